package io.eventtide.kernel.window

import io.eventtide.kernel.time.{Clamped, FrameGrid}

/** Which of its two ends belongs to a window.
  *
  *   - '''Guarantee:''' every time is in exactly one frame, whichever end it is.
  *   - '''Restart:''' immutable; nothing to save.
  */
sealed abstract class IntervalBounds(val name: String) {

  /** The grid that cuts rows into frames with these bounds, where `grid` says what the ends are. */
  def cut(grid: FrameGrid): FrameGrid
}

object IntervalBounds {

  /** Source: Jet, Flink, Spark, VoltSP. */
  case object StartIncluded extends IntervalBounds("[start, end)") {
    def cut(grid: FrameGrid): FrameGrid = grid
  }

  /** Source: Storm. */
  case object EndIncluded extends IntervalBounds("(start, end]") {
    def cut(grid: FrameGrid): FrameGrid = OneLater(grid)
  }

  val all: Seq[IntervalBounds] = Seq(StartIncluded, EndIncluded)

  /** In whole units, after `start` and up to `end` is from `start + 1` and below `end + 1`. */
  private final case class OneLater(grid: FrameGrid) extends FrameGrid {
    def index(ts: Long): Long = grid.index(Clamped.subtract(ts, 1))

    def start(index: Long): Long = {
      val start = grid.start(index)
      if (start == Long.MinValue) start else Clamped.add(start, 1)
    }
  }
}
