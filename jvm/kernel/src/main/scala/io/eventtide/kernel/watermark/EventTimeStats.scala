package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

/** The event-time extremes and the row count of one substream in a part of a batch.
  *
  *   - '''Guarantee:''' the order in which rows are added and parts are merged does not matter.
  *   - '''Units:''' times are in the unit of event time.
  *   - '''Edges:''' the extremes may be read only when `count` is above zero.
  */
final class EventTimeStats {
  private var highest = Long.MinValue
  private var lowest = Long.MaxValue
  private var rows = 0L
  private var highestMark = SubstreamRows.NoMark

  def count: Long = rows
  def max: Long = highest
  def min: Long = lowest

  def add(time: Long): Unit = {
    if (time > highest) highest = time
    if (time < lowest) lowest = time
    rows += 1
  }

  /** Adds rows of which only the extremes are known. */
  def add(lowestTime: Long, highestTime: Long, count: Long): Unit = {
    highest = Math.max(highest, highestTime)
    lowest = Math.min(lowest, lowestTime)
    rows += count
  }

  /** Adds the mark of a row, in addition to its time. */
  def addMark(mark: Long): Unit = if (mark > highestMark) highestMark = mark

  def merge(other: EventTimeStats): Unit = {
    highestMark = Math.max(highestMark, other.highestMark)
    highest = Math.max(highest, other.highest)
    lowest = Math.min(lowest, other.lowest)
    rows += other.rows
  }

  /** Removes all rows. */
  def clear(): Unit = {
    highest = Long.MinValue
    lowest = Long.MaxValue
    rows = 0
    highestMark = SubstreamRows.NoMark
  }

  /** A copy whose lowest time is at least `time`, if the highest is; the count includes all rows.
    */
  def from(time: Long): EventTimeStats = {
    val others = new EventTimeStats
    others.merge(this)
    if (highest >= time) others.lowest = Math.max(lowest, time)
    others
  }

  def save(out: DataOutput): Unit = {
    out.writeLong(highest)
    out.writeLong(lowest)
    out.writeLong(rows)
    out.writeLong(highestMark)
  }

  def restore(in: DataInput): Unit = {
    highest = in.readLong()
    lowest = in.readLong()
    rows = in.readLong()
    highestMark = in.readLong()
  }

  /** These statistics as the rows of the substream at `index`. */
  def of(index: Int): SubstreamRows = SubstreamRows(index, highest, lowest, rows, highestMark)
}
