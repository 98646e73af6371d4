package io.eventtide.spark.operators.late

import scala.collection.mutable

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators

/** Rows of a key that are late so far, until all of its batch are here; see `TimedWindows`.
  *
  * A few are copied. More are in Spark's memory, and on disk where that is not enough: a backfill may
  * have millions for one key.
  *
  * @param timeAt
  *   where the time of a row is, in microseconds
  */
private[operators] final class DeferredLateRows(columns: Seq[Attribute], timeAt: Int) {
  private val few = mutable.ArrayBuffer.empty[UnsafeRow]
  private var many: UnsafeExternalRowSorter = _ // null while they are few

  def isEmpty: Boolean = few.isEmpty && many == null

  /** Adds a row, which stays the caller's. */
  def add(row: UnsafeRow): Unit =
    if (many != null) many.insertRow(row)
    else if (few.length < DeferredLateRows.Few) few += row.copy(): Unit
    else {
      many = newSorter()
      few.foreach(many.insertRow)
      few.clear()
      many.insertRow(row)
    }

  /** Gives all rows, the latest first, each good until the next, and forgets them. */
  def takeAll(take: UnsafeRow => Unit): Unit =
    if (many == null) {
      few.sortInPlaceBy(_.getLong(timeAt))(Ordering.Long.reverse).foreach(take)
      few.clear()
    } else {
      many.sort().foreach(row => take(row.asInstanceOf[UnsafeRow]))
      many = null
    }

  private val latestFirst: Ordering[InternalRow] =
    (one, other) => java.lang.Long.compare(other.getLong(timeAt), one.getLong(timeAt))

  private def newSorter() = UnsafeExternalRowSorter.create(
    DataTypeUtils.fromAttributes(columns),
    latestFirst,
    PrefixComparators.LONG_DESC,
    new Prefix,
    SparkEnv.get.memoryManager.pageSizeBytes,
    /* canUseRadixSort = */ true
  )

  private final class Prefix extends UnsafeExternalRowSorter.PrefixComputer {
    private val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix

    override def computePrefix(row: InternalRow): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
      prefix.isNull = false
      prefix.value = row.getLong(timeAt)
      prefix
    }
  }
}

private[operators] object DeferredLateRows {

  /** So many take less than a page of Spark's memory. */
  val Few = 4096
}
