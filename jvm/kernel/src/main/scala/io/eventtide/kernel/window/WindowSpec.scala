package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.{Clamped, FrameGrid}

/** The windows of a query, and the rules by which they take rows and close.
  *
  *   - '''Guarantee:''' a window that ends at `end` is closed when `end <= watermark - delay`;
  *     under an inclusive watermark, the delay is one shorter. A row is late by the profile's rule.
  *   - '''Units:''' the unit of the grid.
  *   - '''Restart:''' immutable; nothing to save.
  *
  * @param grid boundaries at which windows start and end
  * @param delay time from the end of a window until it closes, zero or more
  */
final case class WindowSpec(
    grid: FrameGrid,
    shape: WindowShape,
    profile: Profile = Profile.eventtide,
    delay: Long = 0
) {
  if (delay < 0) throw new InvalidArgument("delay", delay, "zero or more")

  /** The grid that assigns rows to frames. */
  val frames: FrameGrid = profile.bounds.cut(grid)

  // The distance from the end of a window to the watermark at which it closes.
  private val waits = if (profile.inclusive) delay - 1 else delay

  /** The last closed boundary; windows that end at or before it have emitted their result. */
  def closed(watermark: Long): Long = frames.index(Clamped.subtract(watermark, waits))

  /** The lowest watermark at which windows that end at `boundary` are closed. */
  def closesAt(boundary: Long): Long = Clamped.add(frames.start(boundary), waits)

  /** The lowest time that is not late. */
  def lateBelow(watermark: Long): Long =
    profile.lateRule.lateBelow(Clamped.subtract(watermark, waits), frames, shape)

  /** The lowest watermark at which a row of this time is late. */
  def lateFrom(time: Long): Long =
    Clamped.add(profile.lateRule.lateFrom(time, frames, shape), waits)

  /** The times of rows whose windows, from start to end plus delay, are all inside a range. */
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

  /** The number of windows that have a row of time `ts`. */
  def windowsOf(ts: Long): Int = shape.windowsOf(frames.index(ts))
}
