package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.window.Buffers

/** The kernel's buffers as rows of aggregation buffers; one key at a time. */
private[spark] trait BufferPool extends Buffers {

  /** Forgets all buffers: another key comes. */
  def reset(): Unit

  /** A row that comes as a buffer, good until the next one is given. */
  def input(row: UnsafeRow): Int

  /** As `input`, where rows come too that have been aggregated: one of these, whose first columns are
    * those of a buffer.
    */
  def aggregated(row: UnsafeRow): Int

  /** A buffer as a row, for results. */
  def row(buffer: Int): InternalRow
}

private[spark] object BufferPool {
  def apply(calls: AggregateFunctions, fixed: Boolean): BufferPool =
    if (fixed) new UnsafeRowBufferPool(calls) else new ObjectBufferPool(calls)

  /** The number of the buffer that is the row at hand. */
  private[state] val Input = 0

  /** The number of the one that is the row at hand where others have not been aggregated. */
  private[state] val Aggregated = 1
}
