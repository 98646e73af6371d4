package io.eventtide.spark.options

import io.eventtide.kernel.time.FrameGrid
import io.eventtide.kernel.window.{Closing, WindowShape}
import io.eventtide.spark.late.LateSettings

/** One kind of windows as a user asked for it, validated. Times are in microseconds.
  *
  * @param grid
  *   the frames that time is cut into
  * @param shape
  *   the windows that are made of them
  * @param closing
  *   when a window is closed, and which rows are late
  * @param late
  *   what becomes of late rows
  */
final case class WindowSettings(
    kind: String,
    grid: FrameGrid,
    shape: WindowShape,
    closing: Closing,
    late: LateSettings
) {

  /** What saved state depends on: a checkpoint of another structure is refused. */
  def structure: String = s"$kind $shape, $grid, late ${closing.lateRule.name}, " +
    s"delay ${PolicyTree.duration(closing.delay)}"
}
