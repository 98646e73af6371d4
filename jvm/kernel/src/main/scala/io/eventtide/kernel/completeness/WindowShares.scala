package io.eventtide.kernel.completeness

import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.kernel.time.Clamped

/** The share of the rows of a window that have come, as it is expected by the disorder of recent rows.
  *
  *   - '''Units:''' times are in the unit of the disorder.
  *   - '''Edges:''' not a number before the first row.
  *   - '''Source:''' Eventtide. It assumes that the rows are spread evenly over the window, and come as
  *     much out of order as the recent rows.
  *
  * @param recent the disorder of recent rows, which must not change afterwards
  * @param reached the event time that has been reached
  */
final class WindowShares(recent: DisorderHistogram, reached: Long) extends Serializable {

  /** The share for a window. */
  def of(start: Long, end: Long): Double = 1 - missing(start, end)

  /** The share that is missing. */
  def missing(start: Long, end: Long): Double =
    recent.shareAfter(Clamped.subtract(end, start), Clamped.subtract(reached, end))
}
