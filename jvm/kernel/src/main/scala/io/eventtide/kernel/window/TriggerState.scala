package io.eventtide.kernel.window

import io.eventtide.kernel.time.Clamped

/** The state of a trigger for one key: the rows that have been added since it last fired.
  *
  *   - '''Restart:''' `write` and `read` keep all state. A restart may change, drop or add the
  *     conditions under which the trigger fires early; a timer begins with the next row.
  *
  * @param discarding the buffers, if a result has only the rows since the last result
  */
private[window] final class TriggerState(trigger: Trigger, discarding: Option[Buffers]) {

  /** Whether the rows since the last result must be recorded. */
  val tracks: Boolean = trigger.isEarly || discarding.isDefined

  /** The rows of open windows that the trigger has not emitted. */
  val changed = new ChangedMarks(discarding)

  private val firing = new FrameList // marks whose open windows are emitted now
  private var dueAt = WindowSet.Never

  def atEnd: Boolean = trigger.atEnd
  def hasCondition: Boolean = trigger.onCondition

  /** Begins a key without state. */
  def begin(): Unit = {
    changed.begin()
    firing.clear()
    dueAt = WindowSet.Never
  }

  /** Adds `count` rows whose windows `windows` has just updated. */
  def add(windows: WindowSet, count: Long, buffer: Int): Unit =
    if (tracks) changed.add(windows, count, buffer)

  /** Decides which open windows are emitted now; closing windows have already been emitted. */
  def fire(now: Long, windows: WindowSet): Unit = {
    firing.clear()
    changed.filter(windows.isOpen)
    if (changed.isEmpty) dueAt = WindowSet.Never
    else {
      if (dueAt == WindowSet.Never)
        trigger.every.foreach(every => dueAt = Clamped.add(now, every))
      if (trigger.onUpdate || trigger.onCondition || dueAt <= now) changed.copyTo(firing)
      else trigger.rows.foreach(changed.copyFull(_, windows, firing))
    }
  }

  /** Whether an open window may be emitted now. */
  def isFiring: Boolean = !firing.isEmpty

  /** Whether it fires now for the current window of `windows`, which is open. */
  def firesFor(windows: WindowSet): Boolean = firing.hasIn(windows.firstMark, windows.endMark)

  /** Whether the current window of `windows` has rows that the trigger has not emitted. */
  def hasChanged(windows: WindowSet): Boolean = changed.isIn(windows)

  /** Ends the batch, after all results. */
  def settle(): Unit = {
    changed.removeAll(firing)
    firing.clear()
    if (changed.isEmpty) dueAt = WindowSet.Never
  }

  /** Forgets all rows, whose windows have been emitted. */
  def clear(): Unit = {
    changed.clear()
    firing.clear()
    dueAt = WindowSet.Never
  }

  /** The clock value at which the trigger fires; `WindowSet.Never` if none. */
  def deadline: Long = dueAt

  def write(out: ByteSink): Unit = {
    changed.write(out)
    if (!changed.isEmpty) out.putNumber(dueAt)
  }

  /** Reads a record of the trigger, whose conditions may have changed. */
  def read(in: ByteSource): Unit = {
    begin()
    changed.read(in)
    val saved = if (changed.isEmpty) WindowSet.Never else in.getNumber()
    if (!tracks) changed.begin()
    else if (trigger.every.isDefined) dueAt = saved
  }
}
