package io.eventtide.kernel.window

/** When a pane is emitted: before, when or after its window closes, or because its key is idle. */
sealed abstract class PaneTiming(val name: String)

object PaneTiming {

  /** Timing by the watermark: before, at or after the end of the window. */
  sealed abstract class ByWatermark(name: String) extends PaneTiming(name)

  case object Early extends ByWatermark("early")
  case object OnTime extends ByWatermark("on_time")
  case object Late extends ByWatermark("late")
  case object Idle extends PaneTiming("idle")

  val all: Seq[PaneTiming] = Seq(Early, OnTime, Late, Idle)
}
