package io.eventtide.kernel.window

import io.eventtide.kernel.time.{Clamped, FrameGrid}

/** When a row is late; each rule is reduced to one time, below which rows are late.
  *
  *   - '''Guarantee:''' the time is monotonic in the watermark.
  *   - '''Units:''' the unit of the grid.
  *   - '''Edges:''' before the first watermark no row is late, and the rule is not called.
  */
sealed abstract class LateRule(val name: String) {

  /** The lowest time that is not late; the delay is already subtracted from `watermark`. */
  def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long

  /** The lowest watermark, minus the delay, at which a row of this time is late. */
  def lateFrom(time: Long, grid: FrameGrid, shape: WindowShape): Long
}

object LateRule {

  /** A row is late when its time is below the watermark. Source: Storm. */
  case object BehindWatermark extends LateRule("behind_watermark") {
    def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long = watermark

    def lateFrom(time: Long, grid: FrameGrid, shape: WindowShape): Long = Clamped.add(time, 1)
  }

  /** A row is late when its frame is closed, even if windows with it are open. Source: Jet. */
  case object FrameClosed extends LateRule("frame_closed") {
    def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long =
      grid.start(grid.index(watermark))

    def lateFrom(time: Long, grid: FrameGrid, shape: WindowShape): Long =
      grid.start(Clamped.add(grid.index(time), 1))
  }

  /** A row is late when all of its windows are closed. Source: Flink, VoltSP, Spark. */
  case object WindowClosed extends LateRule("window_closed") {
    def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long =
      grid.start(shape.startAfter(grid.index(watermark)))

    def lateFrom(time: Long, grid: FrameGrid, shape: WindowShape): Long =
      grid.start(shape.lastEnd(grid.index(time)))
  }

  val all: Seq[LateRule] = Seq(BehindWatermark, FrameClosed, WindowClosed)
}
