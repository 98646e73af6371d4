package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument

/** When the windows of a key emit results; several triggers fire independently.
  *
  * Before a window closes, a trigger fires if one of its conditions holds and the window has rows
  * since the trigger last fired. When the window closes, the trigger fires if it has rows left to
  * emit.
  *
  *   - '''Units:''' `every` is in the unit of the clock.
  *   - '''Source:''' VoltSP's `WindowTrigger`, Beam's and Flink's triggers.
  *
  * @param atEnd whether each window is emitted when it closes, even without new rows
  * @param onUpdate whether a window is emitted in each batch that has rows for it
  * @param every time from a row that is not emitted yet until the trigger fires
  * @param rows number of rows of a window, since the trigger last fired for it, after which the
  *   trigger fires; windows that share rows fire together
  * @param onCondition whether a window is emitted only when its result meets a condition
  */
final case class Trigger(
    atEnd: Boolean = false,
    onUpdate: Boolean = false,
    every: Option[Long] = None,
    rows: Option[Int] = None,
    onCondition: Boolean = false
) {
  every.filter(_ <= 0).foreach(value => throw new InvalidArgument("every", value, "above zero"))
  rows.filter(_ <= 0).foreach(value => throw new InvalidArgument("rows", value, "one or more"))

  /** Whether it emits windows before they close. */
  def isEarly: Boolean = onUpdate || onCondition || every.isDefined || rows.isDefined
}

object Trigger {

  /** One result per window. */
  val AtEnd: Trigger = Trigger(atEnd = true)
}
