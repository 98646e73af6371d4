package io.eventtide.spark.operators

import scala.collection.mutable

import org.apache.spark.SparkEnv
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators

import io.eventtide.spark.state.Projections

/** Sorts the rows of each partition by the number of their key, and the rows of a key in the order
  * of their arrival, which is the order in Spark's partitions before the shuffle.
  *
  * Spark's own sort by two columns compares rows. This is a radix sort by one number: that of the
  * key, then that of the task before the shuffle. The rows of a task come through the shuffle in
  * their order, and a radix sort keeps it. Sorted rows that were spilled are merged by that number
  * and by their arrival. If a shuffle other than Spark's has changed the order, rows are sorted
  * again, by comparison.
  *
  * @param arrival
  *   the column with a row's `MonotonicallyIncreasingID`
  */
private[operators] final class ArrivalSort(
    keys: Seq[Attribute],
    arrival: Attribute,
    input: Seq[Attribute]
) extends Serializable {
  private val at = input.indexWhere(_.exprId == arrival.exprId)

  def apply(rows: RDD[InternalRow]): RDD[InternalRow] =
    rows.mapPartitions(sorted(_), preservesPartitioning = true)

  private[operators] def sorted(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val sorter = newSorter(canUseRadixSort = true)
    val order = new ArrivalOrder
    rows.foreach { row =>
      order.add(row.getLong(at))
      sorter.insertRow(row.asInstanceOf[UnsafeRow])
    }
    if (order.isKept) sorter.sort() else resorted(sorter.sort())
  }

  private def resorted(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val sorter = newSorter(canUseRadixSort = false)
    rows.foreach(row => sorter.insertRow(row.asInstanceOf[UnsafeRow]))
    sorter.sort()
  }

  // It frees its memory at the end of its task.
  private def newSorter(canUseRadixSort: Boolean): UnsafeExternalRowSorter =
    UnsafeExternalRowSorter.create(
      DataTypeUtils.fromAttributes(input),
      (one: InternalRow, other: InternalRow) =>
        java.lang.Long.compare(one.getLong(at), other.getLong(at)),
      PrefixComparators.LONG,
      new Prefix,
      SparkEnv.get.memoryManager.pageSizeBytes,
      canUseRadixSort
    )

  private final class Prefix extends UnsafeExternalRowSorter.PrefixComputer {
    private val number = Projections.unsafe(Seq(KeySortPrefix.withTask(keys, arrival)), input)
    private val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix

    override def computePrefix(row: InternalRow): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
      prefix.isNull = false
      prefix.value = number(row).getLong(0)
      prefix
    }
  }
}

/** Whether the rows of each task come in the order of their arrival. */
private final class ArrivalOrder {
  private val lasts = mutable.LongMap.empty[Long] // the last row of each task but the current one
  private var task = -1L
  private var last = -1L
  private var kept = true

  def isKept: Boolean = kept

  def add(arrival: Long): Unit = {
    if (KeySortPrefix.taskOf(arrival) != task) change(KeySortPrefix.taskOf(arrival))
    if (arrival < last) kept = false
    last = arrival
  }

  private def change(next: Long): Unit = {
    lasts(task) = last
    task = next
    last = lasts.getOrElse(next, -1L)
  }
}
