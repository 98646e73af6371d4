package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** Which rows make a session, and by which rules it takes rows and closes.
  *
  *   - '''Guarantee:''' a session is from its first row to `gap` after its last, `maximum` at the most.
  *     Which rows are together does not depend on their order, unless `maximum` parts them. Which are
  *     late may: see `TimedWindows.judgesTogether`.
  *   - '''Units:''' those of the rows' times.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' VoltSP's `SessionWindow`, Jet's `SessionWindowP`, Spark's `session_window`.
  *
  * @param gap a row so long after the last one is of another session, above zero
  * @param maximum how long a session may be, at least the gap; None for as long as rows come
  * @param delay how long after its end a session closes, zero or more
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

  /** Where a session of these rows ends. */
  def end(first: Long, last: Long): Long =
    math.min(Clamped.add(last, gap), Clamped.add(first, longest))

  /** Whether rows so far apart are together, if nothing is between them. */
  def reaches(earlier: Long, later: Long): Boolean = Clamped.subtract(later, earlier) <= reach

  /** Whether a session may have both rows. */
  def spans(first: Long, last: Long): Boolean = Clamped.subtract(last, first) < longest

  /** The times of rows whose sessions are inside a range as a whole, from start to end and delay. */
  def within(range: TimeRange): TimeRange =
    range.copy(highest = Clamped.subtract(Clamped.subtract(range.highest, delay), gap))

  /** Sessions that end at this time or before are closed. */
  def closed(watermark: Long): Long = Clamped.subtract(watermark, waits)

  /** The watermark at which a session closes that ends then. */
  def closesAt(end: Long): Long = Clamped.add(end, waits)

  /** Whether a row is late that would be in a session of these rows. */
  def isLate(ts: Long, first: Long, last: Long, watermark: Long): Boolean =
    profile.session.lateRule match {
      case LateRule.BehindWatermark => ts < Clamped.subtract(watermark, delay)
      case LateRule.FrameClosed => end(ts, ts) <= closed(watermark)
      case LateRule.WindowClosed => end(first, last) <= closed(watermark)
    }

  /** Whether that depends on the other rows of the session. */
  def judgesTogether: Boolean = profile.session.lateRule == LateRule.WindowClosed

  // How far the watermark has to be above the end.
  private def waits: Long =
    delay + (if (profile.session.closesAbove) 1 else if (profile.inclusive) -1 else 0)
}
