package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.FrameGrid

/** Which windows there are, and by which rules they take rows and close.
  *
  *   - '''Guarantee:''' see `LateRule` and `Closing`.
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

  /** How many windows hold a row of that time. */
  def windowsOf(ts: Long): Int = shape.windowsOf(frames.index(ts))
}
