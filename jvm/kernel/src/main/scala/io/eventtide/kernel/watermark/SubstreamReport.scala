package io.eventtide.kernel.watermark

/** The rows of one batch that belong to one substream, known by their extremes.
  *
  *   - '''Units:''' times are in the unit of event time.
  *   - '''Edges:''' one entry a substream and batch, of one row or more.
  *
  * @param index what `declare` or `indexOf` said
  */
final case class SubstreamRows(index: Int, maxTs: Long, minTs: Long, count: Long)

/** What a combination of substreams has to say as a whole. */
sealed abstract class Status(val name: String) {
  override def toString: String = name
}

object Status {

  /** Substreams are active, but nothing was emitted yet. */
  case object Unknown extends Status("unknown")

  /** There is a watermark, and substreams are active. */
  case object Value extends Status("value")

  /** No substream is active, or there is none. */
  case object Idle extends Status("idle")
}

/** Whether a substream counts, and why. */
sealed abstract class Activity(val name: String, val why: String) {
  override def toString: String = name

  /** Left out, so that nobody waits for it. */
  def isIdle: Boolean = this match {
    case Activity.Silent | Activity.CaughtUp | Activity.NeverSeen => true
    case Activity.Active | Activity.Backlogged | Activity.Expected => false
  }
}

object Activity {
  case object Active extends Activity("active", "rows arrive")

  case object Expected extends Activity("expected", "declared, no row yet: holds the others back")

  case object Backlogged extends Activity("active", "its source has rows of it that were not read")

  case object Silent extends Activity("idle", "no row for the idle timeout: left out")

  case object CaughtUp
      extends Activity("idle", "no row for the idle timeout, and its source has none: left out")

  case object NeverSeen
      extends Activity("idle", "declared, no row within the idle timeout: left out")
}

/** One substream as people see it.
  *
  *   - '''Units:''' `top` and `watermark` are event times, `lastRow` and `since` clock values.
  *   - '''Edges:''' none stands for "not yet", never a number.
  *
  * @param top the highest event time
  * @param watermark its watermark, after the cap
  * @param lastRow the clock at its last row
  * @param rows how many there were in all
  * @param since when the activity began: the declaration, the last row, or the idle deadline
  * @param backlog what its source says of rows to be read
  */
final case class SubstreamReport(
    name: String,
    top: Option[Long],
    watermark: Option[Long],
    lastRow: Option[Long],
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
      Option.when(seen)(substream.quietSince),
      substream.rows,
      activity(substream, seen),
      if (substream.idle) substream.idleAt(timeout.getOrElse(0)) else substream.quietSince,
      substream.backlog
    )
  }

  private def activity(substream: Substream, seen: Boolean): Activity =
    (substream.idle, substream.backlog) match {
      case (false, Backlog.Waiting) => Activity.Backlogged
      case (false, _) => if (seen) Activity.Active else Activity.Expected
      case (true, Backlog.Empty) if seen => Activity.CaughtUp
      case (true, _) => if (seen) Activity.Silent else Activity.NeverSeen
    }
}
