package io.eventtide.spark.options

import io.eventtide.kernel.window.Trigger

/** A trigger and the name that its results carry. */
final case class NamedTrigger(name: String, trigger: Trigger)

/** The rules for a window with several results.
  *
  * @param triggers
  *   the triggers, in the order in which they emit a window; one or more
  * @param latenessMicros
  *   the time after the on-time result in which a window accepts rows and emits updated results
  * @param discards
  *   whether a result contains only the rows since the previous result of its trigger
  */
final case class EmitSettings(
    triggers: Seq[NamedTrigger],
    latenessMicros: Long,
    discards: Boolean
) {

  /** The trigger that fires on a condition, if there is one. */
  def hasCondition: Boolean = triggers.exists(_.trigger.onCondition)
}
