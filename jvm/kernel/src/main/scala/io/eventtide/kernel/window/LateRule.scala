package io.eventtide.kernel.window

import io.eventtide.kernel.time.{Clamped, FrameGrid}

/** When a row is late; all rules come down to one time below which rows are late.
  *
  *   - '''Guarantee:''' the time never falls as the watermark rises.
  *   - '''Units:''' the grid's.
  *   - '''Edges:''' before there is a watermark, nothing is late and nobody asks.
  */
sealed abstract class LateRule(val name: String) {

  /** The lowest time that is not late, once `watermark`, less any delay, has been reached. */
  def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long
}

object LateRule {

  /** A row is late when its time is below the watermark. Source: Storm. */
  case object BehindWatermark extends LateRule("behind_watermark") {
    def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long = watermark
  }

  /** A row is late when its frame is closed, though windows that hold it may be open. Source: Jet. */
  case object FrameClosed extends LateRule("frame_closed") {
    def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long =
      grid.start(grid.index(watermark))
  }

  /** A row is late when every window that it belongs to is closed. Source: Flink, VoltSP, Spark. */
  case object WindowClosed extends LateRule("window_closed") {
    def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long =
      grid.start(shape.startAfter(grid.index(watermark)))
  }

  val all: Seq[LateRule] = Seq(BehindWatermark, FrameClosed, WindowClosed)
}

/** What is closed at a watermark.
  *
  *   - '''Guarantee:''' a window that ends at `end` is closed when `end <= watermark - delay`.
  *   - '''Units:''' `delay` in the grid's unit, zero or more, or -1 under an inclusive watermark.
  */
final case class ClosingRule(lateRule: LateRule, delay: Long = 0) {

  /** The last boundary that is closed: windows that end there or before have given their result. */
  def closed(watermark: Long, grid: FrameGrid): Long = grid.index(effective(watermark))

  /** The lowest watermark at which that boundary is closed. */
  def closesAt(boundary: Long, grid: FrameGrid): Long = Clamped.add(grid.start(boundary), delay)

  /** The lowest time that is not late. */
  def lateBelow(watermark: Long, grid: FrameGrid, shape: WindowShape): Long =
    lateRule.lateBelow(effective(watermark), grid, shape)

  private def effective(watermark: Long): Long = Clamped.subtract(watermark, delay)
}
