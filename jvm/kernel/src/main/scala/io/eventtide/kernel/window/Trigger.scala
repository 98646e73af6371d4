package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** When the windows of a key emit results; several triggers fire independently.
  *
  * Before a window closes, a trigger fires if the window has rows since the trigger last fired, and
  * one of its conditions holds. When the window closes, the trigger fires if it has rows left to
  * emit.
  *
  *   - '''Units:''' `every` is in the unit of the clock.
  *   - '''Source:''' VoltSP's `WindowTrigger`, Beam's and Flink's triggers.
  *
  * @param atEnd whether each window is emitted when it closes, changed or not
  * @param onUpdate whether a window is emitted in each batch that has rows for it
  * @param every time from a row that is not emitted yet until the trigger fires
  * @param rows number of rows of the key after which the trigger fires
  * @param onCondition whether a window is emitted when its result meets a condition, and only then
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
  def givesEarly: Boolean = onUpdate || onCondition || every.isDefined || rows.isDefined
}

object Trigger {

  /** One result per window. */
  val AtEnd: Trigger = Trigger(atEnd = true)
}

/** The state of a trigger for one key: the windows that have changed since it last fired.
  *
  *   - '''Restart:''' `write` and `read` keep all state.
  */
private[window] final class TriggerState(trigger: Trigger) {
  private val changed = new FrameList // marks of rows, see `WindowSet`
  private var rows = 0L
  private var dueAt = WindowSet.Never
  private var gives = false

  def clear(): Unit = {
    changed.clear()
    rows = 0
    dueAt = WindowSet.Never
    gives = false
  }

  /** Adds `count` rows. Marks less than `apart` from each other belong to the same windows. */
  def add(mark: Long, apart: Long, count: Long): Unit = if (trigger.givesEarly) {
    rows += count
    val i = changed.floor(mark)
    val isNear = i >= 0 && mark - changed.frame(i) < apart ||
      i + 1 < changed.size && changed.frame(i + 1) - mark < apart
    if (!isNear) changed.insert(i + 1, mark, TriggerState.NoBuffer)
  }

  /** Ends the batch, after its last row. */
  def close(now: Long): Unit = {
    if (!changed.isEmpty && dueAt == WindowSet.Never)
      trigger.every.foreach(every => dueAt = Clamped.add(now, every))
    gives = !changed.isEmpty && (trigger.onUpdate || trigger.onCondition || dueAt <= now ||
      trigger.rows.exists(rows >= _))
  }

  /** Whether open windows that have changed are emitted now. */
  def givesOpen: Boolean = gives

  /** Whether a window that closes is emitted. */
  def givesClosed(start: Long, end: Long, holds: => Boolean): Boolean =
    trigger.atEnd || givesChanged(start, end, holds)

  /** Whether a window has changed, and its result meets the condition, if there is one. */
  def givesChanged(start: Long, end: Long, holds: => Boolean): Boolean = {
    val i = changed.floor(end - 1)
    i >= 0 && changed.frame(i) >= start && (!trigger.onCondition || holds)
  }

  /** Updates the state after all results of the batch have been emitted. */
  def settle(isOpen: Long => Boolean): Unit = {
    if (gives) clear()
    while (!changed.isEmpty && !isOpen(changed.first)) changed.dropFirst()
    if (changed.isEmpty) clear()
  }

  /** The clock value at which the trigger fires; `WindowSet.Never` if none. */
  def deadline: Long = dueAt

  def write(out: ByteSink): Unit = if (trigger.givesEarly) {
    changed.writeFrames(out)
    out.putCount(rows)
    out.putNumber(dueAt)
  }

  def read(in: ByteSource): Unit = {
    clear()
    if (trigger.givesEarly) {
      changed.readFrames(in)
      rows = in.getCount()
      dueAt = in.getNumber()
    }
  }
}

private object TriggerState {
  private val NoBuffer = -1
}
