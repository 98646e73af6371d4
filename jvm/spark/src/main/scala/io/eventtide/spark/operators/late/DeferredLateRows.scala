package io.eventtide.spark.operators.late

import java.util.function.ToLongFunction

import scala.collection.mutable

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators

/** Buffers rows whose lateness is not decided until all rows of the key's batch have arrived; see
  * `AggregatingWindows`.
  *
  * Up to `DeferredLateRows.Few` rows are copied to the heap. More rows use Spark's execution memory
  * and spill to disk, because a backfill may have millions of rows for one key.
  *
  * @param until
  *   the end of the time that a row covers, in microseconds, without a gap that is the same for all
  *   rows
  */
private[operators] final class DeferredLateRows(
    columns: Seq[Attribute],
    until: ToLongFunction[InternalRow]
) {
  private val few = mutable.ArrayBuffer.empty[UnsafeRow]
  private var many: UnsafeExternalRowSorter = _ // null up to `Few` rows

  def isEmpty: Boolean = few.isEmpty && many == null

  /** Adds a copy of a row. */
  def add(row: UnsafeRow): Unit =
    if (many != null) many.insertRow(row)
    else if (few.length < DeferredLateRows.Few) few += row.copy(): Unit
    else {
      many = newSorter()
      few.foreach(many.insertRow)
      few.clear()
      many.insertRow(row)
    }

  /** Passes all rows to `take`, in descending order of the end of the time that they cover, and
    * clears the buffer. Each row is valid until the next.
    */
  def takeAll(take: UnsafeRow => Unit): Unit =
    if (many == null) {
      few.sortInPlaceBy(until.applyAsLong)(Ordering.Long.reverse).foreach(take)
      few.clear()
    } else {
      many.sort().foreach(row => take(row.asInstanceOf[UnsafeRow]))
      many = null
    }

  private val latestFirst: Ordering[InternalRow] =
    (one, other) => java.lang.Long.compare(until.applyAsLong(other), until.applyAsLong(one))

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
      prefix.value = until.applyAsLong(row)
      prefix
    }
  }
}

private[operators] object DeferredLateRows {

  /** The maximum number of rows on the heap; they take less than a page of Spark's memory. */
  val Few = 4096
}
