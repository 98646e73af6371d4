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

  /** The end of the next window ending after `boundary`. */
  def endAfter(boundary: Long): Long = Clamped.add(boundary, 1)

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

  /** Tumbling windows. */
  val OneFrame: Sliding = Sliding(1)

  private[window] def checkFrames(frames: Int): Unit =
    if (frames < 1 || frames > MostFrames)
      throw new InvalidArgument("frames of a window", frames, s"from 1 to $MostFrames")
}

/** A window of `frames` frames ends at every boundary, or at every `every`-th boundary.
  *
  *   - '''Edges:''' a window that would start before the frame `from` starts there.
  *   - '''Source:''' Jet's `SlidingWindowPolicy`; `every` and `from` are Eventtide extensions, for
  *     windows whose size has changed while their frames were kept.
  *
  * @param every
  *   distance between two ends, from 1 to `frames`
  * @param phase
  *   number of a boundary at which a window ends, from 0 to `every - 1`
  * @param from
  *   the first frame of all windows
  */
final case class Sliding(frames: Int, every: Int = 1, phase: Int = 0, from: Long = Long.MinValue)
    extends WindowShape {
  WindowShape.checkFrames(frames)
  if (every < 1 || every > frames)
    throw new InvalidArgument("frames of a slide", every, s"from 1 to $frames")
  if (phase < 0 || phase >= every)
    throw new InvalidArgument("phase", phase, s"zero or more and below $every")

  def start(end: Long): Long = math.max(Clamped.subtract(end, frames.toLong), from)

  override def endAfter(boundary: Long): Long = Clamped.add(boundary, ahead(boundary).toLong)

  def startAfter(boundary: Long): Long =
    math.max(Clamped.subtract(boundary, (frames - ahead(boundary)).toLong), from)

  def lastEnd(frame: Long): Long =
    Clamped.add(frame, (frames - (frames - ahead(frame)) % every).toLong)

  override def windowsOf(frame: Long): Int = (frames - ahead(frame)) / every + 1

  /** The number of frames up to the next end. */
  private def ahead(boundary: Long): Int =
    if (every == 1) 1
    else every - Math.floorMod(Math.floorMod(boundary, every) - phase, every)
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
