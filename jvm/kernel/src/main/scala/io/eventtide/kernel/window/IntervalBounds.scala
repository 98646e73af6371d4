package io.eventtide.kernel.window

import io.eventtide.kernel.time.{Clamped, FrameGrid}

/** Which end of its half-open interval a window includes.
  *
  *   - '''Guarantee:''' every time is in exactly one frame, under either of the bounds.
  *   - '''Restart:''' immutable; nothing to save.
  */
sealed abstract class IntervalBounds(val name: String) {

  /** The grid that assigns rows to frames with these bounds; `grid` has the window boundaries. */
  def cut(grid: FrameGrid): FrameGrid
}

object IntervalBounds {

  /** Source: Jet, Flink, Spark, VoltSP. */
  case object ClosedOpen extends IntervalBounds("[start, end)") {
    def cut(grid: FrameGrid): FrameGrid = grid
  }

  /** Source: Storm. */
  case object OpenClosed extends IntervalBounds("(start, end]") {
    def cut(grid: FrameGrid): FrameGrid = ShiftedByOne(grid)
  }

  /** For integer times, `(start, end]` is the same as `[start + 1, end + 1)`. */
  private final case class ShiftedByOne(grid: FrameGrid) extends FrameGrid {
    def index(ts: Long): Long = grid.index(Clamped.subtract(ts, 1))

    def start(index: Long): Long = {
      val start = grid.start(index)
      if (start == Long.MinValue) start else Clamped.add(start, 1)
    }
  }
}
