package io.eventtide.kernel.watermark

/** The rows of one substream in one batch, by their extremes.
  *
  *   - '''Units:''' times are in the unit of event time.
  *   - '''Edges:''' one entry per substream and batch, with one row or more.
  *
  * @param index result of `declare` or `indexOf`
  * @param mark the highest mark of the rows, `SubstreamRows.NoMark` if none has one
  */
final case class SubstreamRows(
    index: Int,
    maxTs: Long,
    minTs: Long,
    count: Long,
    mark: Long = SubstreamRows.NoMark
) {

  /** The highest watermark that the rows allow. */
  def cap: Long = Math.max(maxTs, mark)
}

object SubstreamRows {

  /** Below every mark. */
  val NoMark: Long = Long.MinValue
}

/** The status of all substreams together. */
sealed abstract class WatermarkStatus(val name: String)

object WatermarkStatus {

  /** Substreams are active, but nothing was emitted yet. */
  case object Unknown extends WatermarkStatus("unknown")

  /** There is a watermark, and substreams are active. */
  case object Value extends WatermarkStatus("active")

  /** No substream is active, or no substream exists. */
  case object Idle extends WatermarkStatus("idle")
}

/** Whether a substream is active or idle, and the reason. */
sealed abstract class Activity(val name: String) {
  override def toString: String = name

  /** Whether the substream is left out of the minimum, so that it does not delay the watermark.
    */
  def isIdle: Boolean = this match {
    case Activity.TimedOut | Activity.CaughtUp | Activity.NeverSeen => true
    case Activity.Active | Activity.Backlogged | Activity.Expected => false
  }
}

object Activity {

  /** Rows arrive. */
  case object Active extends Activity("active")

  /** Declared and without a row: delays the watermark. */
  case object Expected extends Activity("expected")

  /** Its source has unread rows. */
  case object Backlogged extends Activity("active")

  /** Without a row for the idle timeout. */
  case object TimedOut extends Activity("idle")

  /** Without a row for the idle timeout, and its source has no unread rows. */
  case object CaughtUp extends Activity("idle")

  /** Declared, and without a row within the idle timeout. */
  case object NeverSeen extends Activity("idle")
}

/** The state of one substream for users.
  *
  *   - '''Units:''' `top` and `watermark` are event times; `since` is a clock value.
  *   - '''Edges:''' None means "not yet"; no number does.
  *
  * @param top highest event time
  * @param watermark substream watermark, after the cap
  * @param rows total number of rows
  * @param since start of the activity: the declaration, the last row, or the idle deadline
  * @param backlog unread rows, as its source reports
  */
final case class SubstreamReport(
    name: String,
    top: Option[Long],
    watermark: Option[Long],
    rows: Long,
    activity: Activity,
    since: Long,
    backlog: Backlog = Backlog.Unknown
)

private[watermark] object SubstreamReport {
  def of(substream: Substream, timeout: Option[Long]): SubstreamReport = {
    val seen = substream.rows > 0
    SubstreamReport(
      substream.name,
      Option.when(seen)(substream.top),
      Option.when(substream.known)(substream.watermark),
      substream.rows,
      activity(substream, seen),
      if (substream.idle) substream.idleAt(timeout.getOrElse(0)) else substream.inactiveSince,
      substream.backlog
    )
  }

  private def activity(substream: Substream, seen: Boolean): Activity =
    (substream.idle, substream.backlog) match {
      case (false, Backlog.Pending) => Activity.Backlogged
      case (false, _) => if (seen) Activity.Active else Activity.Expected
      case (true, Backlog.Empty) if seen => Activity.CaughtUp
      case (true, _) => if (seen) Activity.TimedOut else Activity.NeverSeen
    }
}
