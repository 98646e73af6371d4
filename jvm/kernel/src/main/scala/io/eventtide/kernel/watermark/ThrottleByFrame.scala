package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Frame

/** Emits a watermark only when it enters a new frame: the boundary at or below the ideal watermark.
  *
  *   - '''Guarantee:''' never ahead of the ideal watermark and less than a frame behind it; never
  *     goes back.
  *   - '''Units:''' the frame is in the unit of event time.
  *   - '''Edges:''' see `FrameThrottle`.
  *   - '''Source:''' Jet's `throttleByFrame`, which could go back.
  *
  * @param size length of a frame, more than zero
  * @param offset start of a frame, from 0 to `size - 1`
  */
final case class ThrottleByFrame(size: Long, offset: Long = 0) extends ThrottleSpec {
  ThrottleByFrame.Size.check(size)
  ThrottleByFrame.Offset.check(offset)
  if (offset >= size)
    throw new InvalidArgument(ThrottleByFrame.Offset.name, offset, s"below the size $size")

  def name: String = ThrottleByFrame.name

  def parameters: Seq[(String, Long)] = Seq("size" -> size, "offset" -> offset)

  def create(): Throttle = new FrameThrottle(Frame(size, offset))
}

object ThrottleByFrame extends ThrottleFactory {
  val Size: ParamSpec = ParamSpec.positive("size", "the length of a frame")

  val Offset: ParamSpec =
    ParamSpec.duration("offset", "where a frame starts, below the size").copy(default = Some(0))

  def name: String = "throttle_by_frame"

  def doc: String = "emits a watermark only when it enters a new frame"

  def params: Seq[ParamSpec] = Seq(Size, Offset)

  def read(arguments: ParamValues): ThrottleSpec =
    ThrottleByFrame(arguments.long(Size), arguments.long(Offset))
}

/** Emits the frame boundary at or below the ideal watermark.
  *
  *   - '''Guarantee:''' never ahead of the ideal; never goes back. A jump over several frames emits
  *     once, at the highest boundary.
  *   - '''Edges:''' the first ideal is always emitted, rounded down. `frame.floor` clamps at the
  *     lower end of the range.
  *   - '''Restart:''' format 1 of `BaseThrottle`.
  */
private[watermark] final class FrameThrottle(frame: Frame) extends BaseThrottle {
  def offer(now: Long, ideal: Long): Boolean = emit(frame.floor(ideal))

  protected def idealFor(value: Long): Long = frame.ceiling(value)

  protected def idealAbove(last: Long): Long = frame.higher(last)
}
