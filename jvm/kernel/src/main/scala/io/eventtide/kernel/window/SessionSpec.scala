package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** Which rows form a session, and the rules by which it takes rows and closes.
  *
  *   - '''Guarantee:''' a row covers the time from its event time until a gap later. A session is
  *     the union of the times that its rows cover, so a row with a shorter gap never shortens it.
  *     It lasts at most `maximum`. Unless `maximum` splits a session, the grouping does not depend
  *     on the order of rows. Lateness may depend on the order: see
  *     `AggregatingWindows.judgesTogether`.
  *   - '''Units:''' the unit of the rows' times.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' VoltSP's `SessionWindow`, Jet's `SessionWindowP`, Spark's `session_window`,
  *     Flink's `SessionWindowTimeGapExtractor`.
  *
  * @param gap the gap of every row, above zero; None if each row has its own gap
  * @param maximum maximum duration of a session, above zero and at least `gap`; None for no maximum
  * @param delay time from the end of a session until it closes, zero or more
  */
final case class SessionSpec(
    gap: Option[Long],
    maximum: Option[Long] = None,
    profile: Profile = Profile.eventtide,
    delay: Long = 0
) {
  gap.filter(_ <= 0).foreach(length => throw new InvalidArgument("gap", length, "more than zero"))
  if (delay < 0) throw new InvalidArgument("delay", delay, "zero or more")
  maximum.filter(_ < gap.getOrElse(1L)).foreach { value =>
    val allowed = gap.fold("more than zero")(length => s"at least the gap $length")
    throw new InvalidArgument("maximum duration", value, allowed)
  }

  private val longest = maximum.getOrElse(Long.MaxValue)
  private val merges = profile.session.touchingMerges

  /** The end of a session with this first row, whose rows cover the time until `until`. */
  def end(first: Long, until: Long): Long = math.min(until, Clamped.add(first, longest))

  /** Whether rows that cover the time until `until` reach a later row. */
  def reaches(until: Long, later: Long): Boolean = later < until || merges && later == until

  /** Whether the maximum duration allows both rows in one session. */
  def spans(first: Long, last: Long): Boolean = Clamped.subtract(last, first) < longest

  /** The times of rows whose sessions, from start to end plus delay, are inside a range. The gap of
    * a row is not known here: the row's session must end at or before the highest of these times.
    */
  def within(range: TimeRange): TimeRange =
    range.copy(highest = Clamped.subtract(Clamped.subtract(range.highest, delay), gap.getOrElse(0)))

  /** The last end of closed sessions; sessions that end at or before it are closed. */
  def closed(watermark: Long): Long = Clamped.subtract(watermark, waits)

  /** The watermark at which a session with this end closes. */
  def closesAt(end: Long): Long = Clamped.add(end, waits)

  /** Whether a row is late.
    *
    * @param alone end of the session that the row would form alone
    * @param joined end of the session that the row would be in
    */
  def isLate(ts: Long, alone: Long, joined: Long, watermark: Long): Boolean =
    profile.session.lateRule match {
      case LateRule.BehindWatermark => ts < Clamped.subtract(watermark, delay)
      case LateRule.FrameClosed => alone <= closed(watermark)
      case LateRule.WindowClosed => joined <= closed(watermark)
    }

  /** The lowest watermark at which a row of this time is late, if it is alone.
    *
    * @param own the gap of the row, if each row has its own
    */
  def lateFrom(ts: Long, own: Option[Long]): Long = profile.session.lateRule match {
    case LateRule.BehindWatermark => Clamped.add(Clamped.add(ts, delay), 1)
    case _ => closesAt(end(ts, Clamped.add(ts, own.orElse(gap).getOrElse(0L))))
  }

  /** Whether lateness depends on the other rows of the session. */
  def judgesTogether: Boolean = profile.session.lateRule == LateRule.WindowClosed

  // The distance from the end of a session to the watermark at which it closes.
  private def waits: Long =
    delay + (if (profile.session.closesAbove) 1 else if (profile.inclusive) -1 else 0)
}
