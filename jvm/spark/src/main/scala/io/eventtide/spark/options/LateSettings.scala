package io.eventtide.spark.options

/** How late rows are handled. They are counted in every mode. */
sealed abstract class LateMode(val name: String, val summary: String) extends Serializable

object LateMode {

  /** Late rows are written to the late log. */
  case object Log extends LateMode("log", "late log")

  /** Late rows are only counted. */
  case object Count extends LateMode("count", "late rows counted")

  /** The first late row fails the query. */
  case object Fail extends LateMode("fail", "late rows fail the query")

  val all: Seq[LateMode] = Seq(Log, Count, Fail)
}

/** The user's settings for late rows, validated.
  *
  * @param to
  *   the folder that late logs share, with one subfolder per query; None for the checkpoint's
  *   `late`
  * @param hasHandler
  *   whether a function is called with late rows, which only a companion of the query does
  * @param keepMicros
  *   the retention of the late log in microseconds; None for unlimited
  */
final case class LateSettings(
    mode: LateMode,
    to: Option[String],
    hasHandler: Boolean = false,
    keepMicros: Option[Long] = None
)
