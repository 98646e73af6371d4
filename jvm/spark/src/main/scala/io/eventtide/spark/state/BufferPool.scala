package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.window.Buffers

/** The kernel's buffers, as rows of aggregation buffers; for one key at a time. */
private[spark] trait BufferPool extends Buffers {

  /** Releases all buffers, before another key. */
  def reset(): Unit

  /** An input row as a buffer, valid until the next call. */
  def input(row: UnsafeRow): Int

  /** As `input`, for a row of partial aggregation in an input that also has unaggregated rows. Its
    * first columns are the columns of a buffer.
    */
  def aggregated(row: UnsafeRow): Int

  /** A buffer as a row, for results. */
  def row(buffer: Int): InternalRow
}

private[spark] object BufferPool {
  def apply(calls: AggregateFunctions, fixed: Boolean): BufferPool =
    if (fixed) new UnsafeRowBufferPool(calls) else new ObjectBufferPool(calls)

  /** The number of the buffer that is the current input row. */
  private[state] val Input = 0

  /** The number of the buffer that is the current aggregated row, in an input with unaggregated
    * rows.
    */
  private[state] val Aggregated = 1
}
