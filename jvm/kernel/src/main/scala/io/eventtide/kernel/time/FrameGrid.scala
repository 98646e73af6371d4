package io.eventtide.kernel.time

/** Divides time into numbered, consecutive frames without gaps.
  *
  *   - '''Guarantee:''' monotonic; `start(index(ts)) <= ts < start(index(ts) + 1)`. A boundary
  *     outside the 64-bit range is clamped to the end of the range.
  *   - '''Units:''' times are in any unit; frame numbers have no unit. A boundary has the number of
  *     the frame that starts at it.
  *   - '''Source:''' Eventtide; windows of consecutive frames work the same on hours and on months.
  */
trait FrameGrid extends Serializable {

  /** The frame that contains `ts`; also the number of the highest boundary at or below `ts`. */
  def index(ts: Long): Long

  /** The start of a frame, which is the end of the previous frame. */
  def start(index: Long): Long
}
