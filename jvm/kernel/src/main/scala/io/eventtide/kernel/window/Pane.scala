package io.eventtide.kernel.window

/** When a pane is emitted: before, when or after its window closes, or because its key is idle. */
sealed abstract class PaneTiming(val name: String)

object PaneTiming {

  case object Early extends PaneTiming("early")
  case object OnTime extends PaneTiming("on_time")
  case object Late extends PaneTiming("late")
  case object Idle extends PaneTiming("idle")

  val all: Seq[PaneTiming] = Seq(Early, OnTime, Late, Idle)
}
