package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BoundReference,
  UnsafeProjection,
  UnsafeRow
}

/** Rows of partial aggregation that come sorted by key, as runs of one key each.
  *
  * The key of a run is a copy; the row is the input's own, so a run has to be read to its end before
  * the next is begun.
  */
private[exec] final class KeyedRows(
    input: Iterator[InternalRow],
    columns: Seq[Attribute],
    keyCount: Int
) {
  private val keyOf = projection(columns.indices.take(keyCount))
  private val bufferOf = projection(columns.indices.drop(keyCount + 1))
  private var row: InternalRow = _
  private var rowKey: UnsafeRow = _
  private var run: UnsafeRow = _
  advance()

  private def projection(ordinals: Seq[Int]): UnsafeProjection = UnsafeProjection.create(
    ordinals.map(i => BoundReference(i, columns(i).dataType, columns(i).nullable))
  )

  def hasNext: Boolean = row != null

  /** Begins the run of the row at hand. */
  def nextKey(): UnsafeRow = {
    run = rowKey.copy()
    run
  }

  /** Whether the row at hand belongs to the run. */
  def isSameKey: Boolean = row != null && rowKey == run

  def frame: Long = row.getLong(keyCount)

  def buffer: UnsafeRow = bufferOf(row)

  def advance(): Unit =
    if (input.hasNext) {
      row = input.next()
      rowKey = keyOf(row)
    } else row = null
}
