package io.eventtide.spark.options

import io.eventtide.kernel.window.Trigger

/** A trigger and the name that its results carry. */
final case class NamedTrigger(name: String, trigger: Trigger)

/** The panes that a window emits in addition to one row when it closes.
  *
  * @param latenessMicros
  *   the time after the on-time result in which a window accepts rows and emits updated results
  * @param earlyEveryMicros
  *   the time from a row to an early pane of its window
  * @param earlyRows
  *   the number of rows of a window since its last early pane after which it emits another
  * @param hasCondition
  *   whether a window emits an early pane when its results meet a condition
  * @param discards
  *   whether a pane contains only the rows since the previous pane of its window
  */
final case class PaneSettings(
    latenessMicros: Long,
    earlyEveryMicros: Option[Long],
    earlyRows: Option[Int],
    hasCondition: Boolean,
    discards: Boolean
) {

  /** These settings beside named triggers, which decide when windows are emitted. */
  def withoutEarly: Option[PaneSettings] = Option.when(latenessMicros > 0 || discards) {
    copy(earlyEveryMicros = None, earlyRows = None, hasCondition = false)
  }

  /** These settings as one trigger. */
  def trigger: Trigger =
    Trigger(atEnd = true, every = earlyEveryMicros, rows = earlyRows, onCondition = hasCondition)
}
