package io.eventtide.kernel.rowwindow

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.{Clamped, Frame}
import io.eventtide.kernel.window.TimeRange

/** The length or slide of a window: a duration or a number of rows. */
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

/** The windows of a windowed bolt: length and slide are each a duration or a number of rows.
  *
  *   - '''Guarantee:''' windows are `(start, end]`. With a time slide, windows end at its
  *     multiples. With a slide of N rows, a window ends after every N counted rows, at the highest
  *     time so far.
  *   - '''Edges:''' a slide may be longer than the length; rows between windows are in no window.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' Storm's `BaseWindowedBolt.withWindow`.
  */
final case class RetainedRowSpec(length: WindowLength, slide: WindowLength) {

  /** The times of rows whose windows are all inside a range. */
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

  /** The number of windows that have a row of time `ts`; None if it depends on other rows. */
  def windowsOf(ts: Long): Option[Int] = (length, slide) match {
    case (WindowLength.Time(long), WindowLength.Time(far)) =>
      val first = Frame(far).ceiling(ts)
      val windows = Math.floorDiv(Clamped.subtract(Clamped.add(ts, long), first) - 1, far) + 1
      Some(math.min(Int.MaxValue.toLong, math.max(0L, windows)).toInt)
    case _ => None
  }
}
