package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** Which frames a window has. A window is identified by its end, the boundary after its last frame.
  *
  *   - '''Guarantee:''' at most one window ends at each boundary; `start` is monotonic in `end`.
  *   - '''Units:''' frame numbers, so that the same shapes work for hours, days and months.
  *   - '''Edges:''' a tumbling window is a sliding window of one frame.
  *   - '''Restart:''' immutable; nothing to save.
  */
sealed trait WindowShape {

  /** The maximum number of frames in a window, one or more. */
  def frames: Int

  /** The first frame of the window that ends at `end`. */
  def start(end: Long): Long

  /** The first frame of the next window ending after `boundary`, which may be `Long.MaxValue`. */
  def startAfter(boundary: Long): Long

  /** The end of the last window that has `frame`. */
  def lastEnd(frame: Long): Long

  /** The number of windows that have `frame`. */
  def windowsOf(frame: Long): Int = (lastEnd(frame) - frame).toInt
}

object WindowShape {

  /** The upper limit of `frames`. */
  val MostFrames = 1000000

  private[window] def checkFrames(frames: Int): Unit =
    if (frames < 1 || frames > MostFrames)
      throw new InvalidArgument("frames of a window", frames, s"from 1 to $MostFrames")
}

/** A window of `frames` frames ends at every boundary. Source: Jet's `SlidingWindowPolicy`. */
final case class Sliding(frames: Int) extends WindowShape {
  WindowShape.checkFrames(frames)

  def start(end: Long): Long = Clamped.subtract(end, frames.toLong)
  def startAfter(boundary: Long): Long = Clamped.subtract(boundary, frames - 1L)
  def lastEnd(frame: Long): Long = Clamped.add(frame, frames.toLong)
}

/** Windows that grow frame by frame up to `frames`, then start again. Source: Flink's `CUMULATE`.
  *
  * @param phase
  *   number of the first frame of a window, from 0 to `frames - 1`
  */
final case class Cumulative(frames: Int, phase: Int = 0) extends WindowShape {
  WindowShape.checkFrames(frames)
  if (phase < 0 || phase >= frames)
    throw new InvalidArgument("phase", phase, s"zero or more and below $frames")

  def start(end: Long): Long = startAfter(Clamped.subtract(end, 1))
  def startAfter(boundary: Long): Long = Clamped.subtract(boundary, before(boundary))

  def lastEnd(frame: Long): Long = Clamped.add(frame, frames - before(frame))

  /** The number of frames of a window before this frame; cannot overflow. */
  private def before(frame: Long): Long =
    Math.floorMod(Math.floorMod(frame, frames) - phase, frames).toLong
}
