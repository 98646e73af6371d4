package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** Which rows form a session, and the rules by which it takes rows and closes.
  *
  *   - '''Guarantee:''' a session lasts from its first row to `gap` after its last row, but at most
  *     `maximum`. The grouping does not depend on the order of rows, unless `maximum` splits a
  *     session. Lateness may depend on the order: see `AggregatingWindows.judgesTogether`.
  *   - '''Units:''' the unit of the rows' times.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' VoltSP's `SessionWindow`, Jet's `SessionWindowP`, Spark's `session_window`.
  *
  * @param gap distance from the last row at which another session starts, above zero
  * @param maximum maximum duration of a session, at least the gap; None for no maximum
  * @param delay time from the end of a session until it closes, zero or more
  */
final case class SessionSpec(
    gap: Long,
    maximum: Option[Long] = None,
    profile: Profile = Profile.eventtide,
    delay: Long = 0
) {
  if (gap <= 0) throw new InvalidArgument("gap", gap, "more than zero")
  if (delay < 0) throw new InvalidArgument("delay", delay, "zero or more")
  maximum.filter(_ < gap).foreach { value =>
    throw new InvalidArgument("maximum duration", value, s"at least the gap $gap")
  }

  private val longest = maximum.getOrElse(Long.MaxValue)
  private val reach = if (profile.session.touchingMerges) gap else gap - 1

  /** The end of a session with these first and last rows. */
  def end(first: Long, last: Long): Long =
    math.min(Clamped.add(last, gap), Clamped.add(first, longest))

  /** Whether two rows with no row between them are close enough for one session. */
  def reaches(earlier: Long, later: Long): Boolean = Clamped.subtract(later, earlier) <= reach

  /** Whether the maximum duration allows both rows in one session. */
  def spans(first: Long, last: Long): Boolean = Clamped.subtract(last, first) < longest

  /** The times of rows whose sessions, from start to end plus delay, are inside a range. */
  def within(range: TimeRange): TimeRange =
    range.copy(highest = Clamped.subtract(Clamped.subtract(range.highest, delay), gap))

  /** The last end of closed sessions; sessions that end at or before it are closed. */
  def closed(watermark: Long): Long = Clamped.subtract(watermark, waits)

  /** The watermark at which a session with this end closes. */
  def closesAt(end: Long): Long = Clamped.add(end, waits)

  /** Whether a row is late whose session would have these first and last rows. */
  def isLate(ts: Long, first: Long, last: Long, watermark: Long): Boolean =
    profile.session.lateRule match {
      case LateRule.BehindWatermark => ts < Clamped.subtract(watermark, delay)
      case LateRule.FrameClosed => end(ts, ts) <= closed(watermark)
      case LateRule.WindowClosed => end(first, last) <= closed(watermark)
    }

  /** Whether lateness depends on the other rows of the session. */
  def judgesTogether: Boolean = profile.session.lateRule == LateRule.WindowClosed

  // The distance from the end of a session to the watermark at which it closes.
  private def waits: Long =
    delay + (if (profile.session.closesAbove) 1 else if (profile.inclusive) -1 else 0)
}
