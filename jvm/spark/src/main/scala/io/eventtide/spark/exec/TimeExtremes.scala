package io.eventtide.spark.exec

/** What one partition of one batch held of one substream; times in microseconds. */
final class TimeExtremes extends Serializable {
  private var highest = Long.MinValue
  private var lowest = Long.MaxValue
  private var rows = 0L

  /** Read the extremes only when there is a row. */
  def count: Long = rows
  def max: Long = highest
  def min: Long = lowest

  def add(timeMicros: Long): Unit = {
    if (timeMicros > highest) highest = timeMicros
    if (timeMicros < lowest) lowest = timeMicros
    rows += 1
  }

  def merge(other: TimeExtremes): Unit = {
    highest = math.max(highest, other.highest)
    lowest = math.min(lowest, other.lowest)
    rows += other.rows
  }
}
