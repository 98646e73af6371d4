package io.eventtide.kernel.rows

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.{Clamped, Frame}
import io.eventtide.kernel.window.TimeRange

/** How long a window is, or how far it slides: a time, or so many rows. */
sealed trait WindowLength

object WindowLength {

  /** @param length more than zero, in the unit of event time */
  final case class Time(length: Long) extends WindowLength {
    if (length <= 0) throw new InvalidArgument("length or slide", length, "more than zero")
  }

  /** @param count one or more */
  final case class Rows(count: Int) extends WindowLength {
    if (count <= 0) throw new InvalidArgument("rows of a length or slide", count, "one or more")
  }
}

/** Which windows a windowed bolt has: four combinations of time and rows.
  *
  *   - '''Guarantee:''' windows are `(start, end]`. A slide of time ends windows at its multiples, a
  *     slide of rows at the highest time so far whenever so many rows have been counted.
  *   - '''Edges:''' a slide may be longer than the length: rows between windows are in none.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' Storm's `BaseWindowedBolt.withWindow`.
  */
final case class StormSpec(length: WindowLength, slide: WindowLength) {

  /** The times of rows whose windows are inside a range as a whole. */
  def within(range: TimeRange): TimeRange = slide match {
    case WindowLength.Time(far) => endingAt(Frame(far), range)
    case _: WindowLength.Rows => range.copy(lowest = Clamped.add(range.lowest, time))
  }

  private def endingAt(ends: Frame, range: TimeRange): TimeRange = {
    val firstEnd = Clamped.add(range.lowest, time)
    val endBehind = ends.higher(range.highest)
    TimeRange(
      Math.max(range.lowest, Clamped.add(ends.floor(Clamped.subtract(firstEnd, 1)), 1)),
      Math.min(ends.floor(range.highest), Clamped.subtract(endBehind, time))
    )
  }

  private def time: Long = length match {
    case WindowLength.Time(time) => time
    case _: WindowLength.Rows => 0
  }

  /** In how many windows a row of that time is, where that is known by its time. */
  def windowsOf(ts: Long): Option[Int] = (length, slide) match {
    case (WindowLength.Time(long), WindowLength.Time(far)) =>
      val first = Frame(far).ceiling(ts)
      val windows = Math.floorDiv(Clamped.subtract(Clamped.add(ts, long), first) - 1, far) + 1
      Some(math.min(Int.MaxValue.toLong, math.max(0L, windows)).toInt)
    case _ => None
  }
}
