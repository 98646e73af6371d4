package io.eventtide.spark.options

/** What becomes of late rows; they are counted in any case. */
sealed abstract class LateMode(val name: String) extends Serializable

object LateMode {

  /** They go to the late log. */
  case object Log extends LateMode("log")

  /** They are counted, and no more. */
  case object Count extends LateMode("count")

  /** The first one stops the query. */
  case object Fail extends LateMode("fail")

  val all: Seq[LateMode] = Seq(Log, Count, Fail)
}

/** How a user wants late rows treated, validated.
  *
  * @param to
  *   the folder that late logs share, in which each query has one of its own; the checkpoint's
  *   `late` if there is none
  * @param hasHandler
  *   whether a function is to be called with them, which only a companion of the query does
  * @param keepMicros
  *   how long the log keeps them; for ever if there is none
  */
final case class LateSettings(
    mode: LateMode,
    to: Option[String],
    hasHandler: Boolean = false,
    keepMicros: Option[Long] = None
)
