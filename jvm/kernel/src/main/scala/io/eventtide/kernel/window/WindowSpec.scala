package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.{Clamped, FrameGrid}

/** Which windows there are, and by which rules they take rows and close.
  *
  *   - '''Guarantee:''' see `LateRule` and `ClosingRule`.
  *   - '''Units:''' whatever unit the grid has.
  *   - '''Restart:''' immutable; nothing to save.
  *
  * @param grid where windows start and end
  * @param delay how long after its end a window closes, zero or more
  */
final case class WindowSpec(
    grid: FrameGrid,
    shape: WindowShape,
    profile: Profile = Profile.eventtide,
    delay: Long = 0
) {
  if (delay < 0) throw new InvalidArgument("delay", delay, "zero or more")

  /** What cuts rows into frames. */
  val frames: FrameGrid = profile.bounds.cut(grid)

  private val closing = profile.closing(delay)

  /** The last boundary that is closed. */
  def closed(watermark: Long): Long = closing.closed(watermark, frames)

  /** The lowest watermark at which windows that end at `boundary` are closed. */
  def closesAt(boundary: Long): Long = closing.closesAt(boundary, frames)

  /** The lowest time that is not late. */
  def lateBelow(watermark: Long): Long = closing.lateBelow(watermark, frames, shape)

  def isLate(ts: Long, watermark: Long): Boolean = ts < lateBelow(watermark)

  /** The times of rows whose windows are inside a range as a whole, from start to end and delay. */
  def within(range: TimeRange): TimeRange = {
    val (first, behind) = (frames.index(range.lowest), frames.index(range.highest) + 1)
    val from = TimeRange.first(first, behind)(startOfFirst(_) >= range.lowest)
    val until = TimeRange.first(first, behind)(endOfLast(_) > range.highest)
    TimeRange(
      Math.max(range.lowest, frames.start(from)),
      Math.min(range.highest, Clamped.subtract(frames.start(until), 1))
    )
  }

  private def startOfFirst(frame: Long): Long = grid.start(shape.startAfter(frame))

  private def endOfLast(frame: Long): Long =
    Clamped.add(grid.start(shape.lastEnd(frame)), delay)

  /** How many windows hold a row of that time. */
  def windowsOf(ts: Long): Int = shape.windowsOf(frames.index(ts))
}
