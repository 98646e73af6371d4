package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** When the windows of a key give results; several triggers give theirs beside each other.
  *
  * Before a window closes, a trigger gives it when rows have come since the trigger last gave any,
  * and one of its reasons holds. When the window closes, it gives what it has not yet.
  *
  *   - '''Units:''' `every` in those of the clock.
  *   - '''Source:''' VoltSP's `WindowTrigger`, Beam's and Flink's triggers.
  *
  * @param atEnd whether each window is given as it closes, changed or not
  * @param onUpdate whether a window is given in each batch with rows of its own
  * @param every so long after a row that has not been given
  * @param rows when so many rows of the key have come
  * @param onCondition whether a window is given when its result meets a condition, and only then
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

  /** Whether it gives windows before they close. */
  def givesEarly: Boolean = onUpdate || onCondition || every.isDefined || rows.isDefined
}

object Trigger {

  /** One result a window. */
  val AtEnd: Trigger = Trigger(atEnd = true)
}

/** What a trigger has to know of one key: which windows have changed since it gave any.
  *
  *   - '''Restart:''' `write` and `read` keep all of it.
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

  /** So many rows have come. Marks that are less than `apart` from each other are of the same windows. */
  def add(mark: Long, apart: Long, count: Long): Unit = if (trigger.givesEarly) {
    rows += count
    val i = changed.floor(mark)
    val isNear = i >= 0 && mark - changed.frame(i) < apart ||
      i + 1 < changed.size && changed.frame(i + 1) - mark < apart
    if (!isNear) changed.insert(i + 1, mark, TriggerState.NoBuffer)
  }

  /** All rows of the batch are here. */
  def close(now: Long): Unit = {
    if (!changed.isEmpty && dueAt == WindowSet.Never)
      trigger.every.foreach(every => dueAt = Clamped.add(now, every))
    gives = !changed.isEmpty && (trigger.onUpdate || trigger.onCondition || dueAt <= now ||
      trigger.rows.exists(rows >= _))
  }

  /** Whether windows that are open are given now, if they have changed. */
  def givesOpen: Boolean = gives

  /** Whether a window is given that closes. */
  def givesClosed(start: Long, end: Long, holds: => Boolean): Boolean =
    trigger.atEnd || givesChanged(start, end, holds)

  /** Whether a window has changed, and its result holds. */
  def givesChanged(start: Long, end: Long, holds: => Boolean): Boolean = {
    val i = changed.floor(end - 1)
    i >= 0 && changed.frame(i) >= start && (!trigger.onCondition || holds)
  }

  /** What was due has been given. */
  def settle(isOpen: Long => Boolean): Unit = {
    if (gives) clear()
    while (!changed.isEmpty && !isOpen(changed.first)) changed.dropFirst()
    if (changed.isEmpty) clear()
  }

  /** When it has to give something by the clock. */
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
