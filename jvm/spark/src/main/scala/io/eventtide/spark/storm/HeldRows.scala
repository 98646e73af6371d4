package io.eventtide.spark.storm

import scala.collection.mutable

import org.apache.spark.sql.Row

/** The rows of one key of one batch, by their numbers from 0, each stored once even if it is in
  * several windows.
  */
private[storm] final class HeldRows {
  private val rows = mutable.ArrayBuffer.empty[Row]
  private var first = 0 // the number of rows.head

  /** Removes all rows, before the next key. */
  def clear(): Unit = {
    rows.clear()
    first = 0
  }

  def add(more: Iterable[Row]): Unit = rows ++= more

  /** Releases the rows below a number, when they are at least half of the rows. */
  def forget(lowest: Int): Unit = {
    val count = math.min(lowest - first, rows.length)
    if (count > 0 && count >= rows.length / 2) {
      rows.remove(0, count)
      first += count
    }
  }

  def take(ranges: RowRanges): Seq[Row] =
    ranges.pairs.flatMap { case (since, until) =>
      rows.slice(since - first, until - first)
    }.toVector
}
