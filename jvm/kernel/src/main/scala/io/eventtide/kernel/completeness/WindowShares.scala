package io.eventtide.kernel.completeness

import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.kernel.time.Clamped

/** The share of the rows of a window that have come when it closes, as it is expected.
  *
  * The rows of a window are taken to be spread evenly over it, and to come as much out of order as the
  * recent rows. The share is corrected by what became of earlier windows.
  *
  *   - '''Units:''' times are in the unit of the disorder.
  *   - '''Edges:''' not a number before the first row.
  *   - '''Source:''' Eventtide.
  *
  * @param recent the disorder of recent rows, which must not change afterwards
  * @param calibration as `recent`
  * @param reached the event time that has been reached
  */
final class WindowShares private[completeness] (
    recent: DisorderHistogram,
    calibration: ShareCalibration,
    reached: Long
) extends Serializable {

  /** The share for a window. */
  def of(start: Long, end: Long): Double = 1 - missing(start, end)

  /** The share that is missing. */
  def missing(start: Long, end: Long): Double = calibration.corrected(byDisorder(start, end))

  /** The step of the calibration for a window. */
  private[completeness] def step(start: Long, end: Long): Int =
    ShareCalibration.stepOf(byDisorder(start, end))

  private def byDisorder(start: Long, end: Long): Double =
    recent.shareAfter(Clamped.subtract(end, start), Clamped.subtract(reached, end))
}
