package io.eventtide.kernel.time

/** Cuts time into frames that follow each other without a gap, and numbers them.
  *
  *   - '''Guarantee:''' monotone; `start(index(ts)) <= ts < start(index(ts) + 1)`, except where a
  *     boundary lies outside the 64-bit range: then it is the end of the range.
  *   - '''Units:''' times in whatever unit the caller has; frame numbers have none. A boundary has
  *     the number of the frame that starts at it.
  *   - '''Source:''' ours: windows of frames of equal numbers work the same on hours and on months.
  */
trait FrameGrid extends Serializable {

  /** The frame that `ts` is in; also the highest boundary at or below `ts`. */
  def index(ts: Long): Long

  /** Where a frame starts, and the one before it ends. */
  def start(index: Long): Long
}
