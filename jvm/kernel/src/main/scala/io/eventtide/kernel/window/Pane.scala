package io.eventtide.kernel.window

/** When a pane is given: before its window closes, as it does, after, or since its key is silent. */
sealed abstract class PaneTiming(val name: String)

object PaneTiming {

  /** As the watermark is before, at or after the end of the window. */
  sealed abstract class ByWatermark(name: String) extends PaneTiming(name)

  case object Early extends ByWatermark("early")
  case object OnTime extends ByWatermark("on_time")
  case object Late extends ByWatermark("late")
  case object Idle extends PaneTiming("idle")

  val all: Seq[PaneTiming] = Seq(Early, OnTime, Late, Idle)
}

/** The boundaries that matter to panes, each at or below the next but for `last`.
  *
  * @param passed windows that end there or before had closed already
  * @param closing windows that end there or before close now, if they have not yet
  * @param last windows that end there or before can change no more; at most `closing`
  */
final case class PaneBoundaries(passed: Long, closing: Long, last: Long)

/** Whether windows that are open give panes now. */
trait EarlyPanes {

  /** Whether any may. */
  def isDue: Boolean

  /** Whether one may that has this result. */
  def holds(result: Int): Boolean
}

object EarlyPanes {

  private final class All(val isDue: Boolean) extends EarlyPanes {
    def holds(result: Int): Boolean = isDue
  }

  val Never: EarlyPanes = new All(false)
  val Always: EarlyPanes = new All(true)
}

/** Where the panes of a key keep frames.
  *
  * @param open for windows that have not closed
  * @param closed for those that have, and may change; None where none may
  */
final case class PaneArchives(open: BlockStore, closed: Option[BlockStore])
