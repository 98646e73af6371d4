package io.eventtide.spark.options

/** When an idle substream is removed. */
sealed trait SubstreamTtl

object SubstreamTtl {

  /** The substream is removed `micros` after its last row. */
  final case class After(micros: Long) extends SubstreamTtl

  case object Never extends SubstreamTtl

  /** The default if only an idle timeout is configured. */
  private[options] val DefaultMicros = 7 * 86400000000L
}
