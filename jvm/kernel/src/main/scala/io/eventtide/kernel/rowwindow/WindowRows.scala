package io.eventtide.kernel.rowwindow

import java.util.BitSet

import io.eventtide.kernel.time.Clamped

/** The rows, by slot, of a window that moves forward in time. */
private[rowwindow] abstract class WindowRows(times: Array[Long], count: Int) {
  private val order = TimeOrder.of(times, count)
  private var inserted = 0

  val slots = new BitSet(count)

  /** A lower bound for the slots of the window's rows, now and after it moves forward. */
  def lowest: Int

  /** The time of the next row to enter; `RowLog.Never` if all rows have entered. */
  def nextTime: Long = if (inserted < count) timeOf(inserted) else RowLog.Never

  /** The highest time of the entered rows; requires `hasEntered`. */
  def newest: Long = timeOf(inserted - 1)

  def hasEntered: Boolean = inserted > 0

  protected def slotOf(place: Int): Int = order(place)
  protected def timeOf(place: Int): Long = times(order(place))

  /** Moves the end of the window forward; returns the number of rows that entered. */
  def moveTo(end: Long): Int = {
    val before = inserted
    while (inserted < count && timeOf(inserted) <= end) {
      enter(slotOf(inserted))
      inserted += 1
    }
    leave(end, inserted)
    inserted - before
  }

  protected def enter(slot: Int): Unit

  /** Evicts rows after the window has moved to `end`; `inserted` rows have entered in total. */
  protected def leave(end: Long, inserted: Int): Unit
}

/** Keeps the rows of the last `length` of time. */
private[rowwindow] final class TimeEviction(times: Array[Long], count: Int, length: Long)
    extends WindowRows(times, count) {
  private var left = 0
  private var low = 0

  def lowest: Int = low

  protected def enter(slot: Int): Unit = slots.set(slot)

  protected def leave(end: Long, inserted: Int): Unit = {
    val after = Clamped.subtract(end, length)
    while (left < inserted && timeOf(left) <= after) {
      slots.clear(slotOf(left))
      left += 1
    }
    while (low < count && times(low) <= after) low += 1
  }
}

/** Keeps the last `most` rows in order of arrival, among the rows up to the end of the window. */
private[rowwindow] final class CountEviction(times: Array[Long], count: Int, most: Int)
    extends WindowRows(times, count) {
  private var size = 0
  private var first = Int.MaxValue // the lowest slot

  def lowest: Int = if (size == most) first else 0

  // A row with `most` rows after it cannot be among the last `most` rows again.
  protected def enter(slot: Int): Unit = if (size < most || slot > first) {
    slots.set(slot)
    first = math.min(first, slot)
    size += 1
  }

  protected def leave(end: Long, inserted: Int): Unit = while (size > most) {
    slots.clear(first)
    first = slots.nextSetBit(first)
    size -= 1
  }
}
