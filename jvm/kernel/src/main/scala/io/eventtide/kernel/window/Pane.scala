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

/** The boundaries that decide the timing of panes; `passed` and `last` are at most `closing`.
  *
  * @param passed last boundary whose windows were already closed
  * @param closing last boundary whose windows are closed now
  * @param last last boundary whose windows can no longer change
  */
final case class PaneBoundaries(passed: Long, closing: Long, last: Long)

/** Whether open windows emit panes now. */
trait EarlyPanes {

  /** Whether any open window may emit a pane. */
  def isDue: Boolean

  /** Whether a window with this result may emit a pane. */
  def holds(result: Int): Boolean
}

object EarlyPanes {

  private final class All(val isDue: Boolean) extends EarlyPanes {
    def holds(result: Int): Boolean = isDue
  }

  val Never: EarlyPanes = new All(false)
  val Always: EarlyPanes = new All(true)
}

/** The block stores for the frames of a key.
  *
  * @param open store for windows that are not closed
  * @param closed store for closed windows that may still change; None if closed windows never
  *   change
  */
final case class PaneArchives(open: BlockStore, closed: Option[BlockStore])
