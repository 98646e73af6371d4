package io.eventtide.spark.options

/** When a substream that is idle is forgotten. */
sealed trait SubstreamTtl

object SubstreamTtl {

  /** So long after its last row. */
  final case class After(micros: Long) extends SubstreamTtl

  case object Never extends SubstreamTtl

  /** Where an idle timeout is given, and no other time. */
  private[options] val DefaultMicros = 7 * 86400000000L
}
