package io.eventtide.kernel.window

import scala.collection.mutable

/** Rows of one key that are late so far, where others of their batch may put them in time.
  *
  *   - '''Guarantee:''' which of them are late does not depend on the order in which rows came. A row
  *     that is late by itself can only be saved by a later one, so the latest is judged first.
  *   - '''Edges:''' they are held in memory until all rows of the key are here.
  */
final class SetAside[R] {
  private val rows = mutable.ArrayBuffer.empty[(Long, R)]

  def isEmpty: Boolean = rows.isEmpty

  def add(ts: Long, row: R): Unit = rows += ts -> row: Unit

  /** Judges them again, and forgets them.
    *
    * @param take takes a row if it is in time now
    * @param late is told of the others
    */
  def judge(take: (Long, R) => Boolean)(late: (Long, R) => Unit): Unit = {
    rows.sortInPlaceBy(_._1)(Ordering.Long.reverse): Unit
    rows.foreach { case (ts, row) => if (!take(ts, row)) late(ts, row) }
    rows.clear()
  }
}
