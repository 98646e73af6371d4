package io.eventtide.kernel.completeness

import java.util.{TreeMap => JTreeMap}

/** The rows of a batch below a time, by the start of their frame. */
private[completeness] final class RowsByTime(below: Long) {
  private val rows = new JTreeMap[Long, Long]

  // The starts, and the rows before each of them and after all, once they are asked for.
  private lazy val starts = rows.keySet.stream.mapToLong(start => start).toArray
  private lazy val before = rows.values.stream.mapToLong(count => count).toArray.scanLeft(0L)(_ + _)

  /** Not after `between`. */
  def add(start: Long, count: Long): Unit =
    if (start < below) rows.merge(start, count, (one, more) => one + more): Unit

  /** The lowest start; None without rows. */
  def lowest: Option[Long] = Option.when(!rows.isEmpty)(rows.firstKey)

  /** The rows between two times. */
  def between(start: Long, end: Long): Long = rowsBefore(end) - rowsBefore(start)

  private def rowsBefore(time: Long): Long = {
    val found = java.util.Arrays.binarySearch(starts, time)
    before(if (found >= 0) found else -found - 1)
  }
}
