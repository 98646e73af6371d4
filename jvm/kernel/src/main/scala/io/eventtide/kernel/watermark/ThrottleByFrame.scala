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
  */
object ThrottleByFrame
    extends ThrottleKind(
      "throttle_by_frame",
      ParamSpec.positive("size", "the length of a frame"),
      ParamSpec.duration("offset", "where a frame starts, below the size").copy(default = Some(0))
    ) {
  def apply(size: Long, offset: Long = 0): ThrottleSpec = ThrottleSpec(this, Seq(size, offset))

  def create(spec: ThrottleSpec): Throttle = {
    val (size, offset) = (spec.values(0), spec.values(1))
    if (offset >= size) throw new InvalidArgument("offset", offset, s"below the size $size")
    new FrameThrottle(Frame(size, offset))
  }
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
