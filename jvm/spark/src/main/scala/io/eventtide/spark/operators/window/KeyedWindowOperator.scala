package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}
import io.eventtide.spark.operators.preagg.KeyedFrameReader

/** The windows of one key at a time, between its state and its results. There are two kinds:
  * windows that aggregate rows on arrival (`AggregatingWindowOperator`, and `FrameWindowOperator`
  * for the simplest windows), and windows that retain rows (`RetainedRowWindowOperator`).
  */
private[window] trait KeyedWindowOperator {

  /** Begins a key without state. */
  def begin(): Unit

  /** Restores a key from its state. */
  def read(in: ByteSource): Unit

  /** Adds the current row or frame of the key. */
  def add(rows: KeyedFrameReader): Unit

  /** Called after the rows of the key have been added; results can be emitted then. */
  def close(): Unit

  /** The maximum number of rows added before `close`; more rows of the key follow after
    * `beginStep`.
    */
  def maxRowsPerStep: Int = Int.MaxValue

  /** Called when all results have been emitted and the key has more rows. */
  def beginStep(): Unit = ()

  /** Advances to the next output row; false when all have been emitted. */
  def next(): Boolean

  /** The current output row, valid until the next one. */
  def row(key: UnsafeRow): InternalRow

  /** Called when all results of the key have been emitted; evicts data that is no longer needed. */
  def finishKey(): Unit = ()

  def isEmpty: Boolean

  /** Whether the key's only change is that a few windows have closed, which is cheap to repeat. */
  def hasOnlyClosed: Boolean = false

  /** The key's next timer by the watermark, in the unit of `WindowSettings.closedUpTo`;
    * `FrameWindowState.Never` if there is none.
    */
  def due: Long

  /** The watermark of the key at which its next window closes; `FrameWindowState.Never` if there is
    * none.
    */
  def closesAt: Long = FrameWindowState.Never

  /** The next timer by the group's watermark; `FrameWindowState.Never` if there is none. */
  def dueInGroup: Long = FrameWindowState.Never

  /** The next processing-time timer, in microseconds; `FrameWindowState.Never` if there is none. */
  def deadline: Long = FrameWindowState.Never

  def write(out: ByteSink): Unit

  /** Called when all windows up to a limit, as `WindowSettings.closedUpTo`, have been emitted. */
  def emittedUpTo(limit: Long): Unit = ()

  /** Reports the numbers of rows on time and late while the task runs. */
  def reportSoFar(): Unit = ()

  /** The watermark of the key, in microseconds; None if it has no per-key watermark (yet). */
  def watermark: Option[Long] = None
}

/** Windows that aggregate rows on arrival, so that their state has buffers. */
private[window] trait BufferingWindowOperator extends KeyedWindowOperator {

  /** Copies the state of a key; the buffers read and write each buffer. */
  def copyRecord(in: ByteSource, out: ByteSink): Unit
}

private[window] object KeyedWindowOperator {

  /** Fails: late rows have been removed upstream. */
  def tooLate(frame: Long): Nothing =
    throw new IllegalStateException(s"a late row has passed: frame $frame")
}
