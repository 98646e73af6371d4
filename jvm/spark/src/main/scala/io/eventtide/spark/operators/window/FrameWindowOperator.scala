package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}
import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.operators.{ResultProjection, WindowOperatorSpec}
import io.eventtide.spark.state.{AggregateFunctions, BufferPool}

/** The fast path of time windows that emit one row, when the query's watermark closes them: no
  * triggers, no idleness, no watermark per key. In a batch query, all windows whose rows are
  * aggregated by frame emit one row, regardless of their triggers.
  *
  * As an `AggregatingWindowOperator`, such a window would need more state and work per key; see
  * `docs/decisions.md` for the figures.
  *
  * @param passed
  *   the boundary up to which windows had closed before this batch
  * @param emitted
  *   the boundary up to which windows have been emitted, possibly without saving the key
  * @param closing
  *   the boundary up to which windows close when the rows so far have been added
  */
private[window] final class FrameWindowOperator(
    spec: WindowOperatorSpec,
    state: FrameWindowState,
    calls: AggregateFunctions,
    buffers: BufferPool,
    passed: Long,
    emitted: Long,
    closing: () => Long
) extends BufferingWindowOperator {
  private val results = new ResultProjection(spec)
  private val hasPane = spec.result.pane.nonEmpty
  private var hasRows = false // whether the key has rows in this batch
  private var savedAt = 0L

  def begin(): Unit = state.begin(passed)

  def read(in: ByteSource): Unit = {
    hasRows = false
    state.read(in)
    savedAt = state.closed
    state.discardClosedUpTo(emitted)
    state.advanceTo(passed)
  }

  def copyRecord(in: ByteSource, out: ByteSink): Unit = {
    state.read(in)
    state.write(out)
  }

  def add(rows: KeyedFrameReader): Unit = {
    hasRows = true
    if (!state.add(rows.frame, buffers.input(rows.buffer))) KeyedWindowOperator.tooLate(rows.frame)
  }

  def close(): Unit = ()

  def next(): Boolean = state.next(closing())

  def row(key: UnsafeRow): InternalRow = {
    val values = calls.evaluate(buffers.row(state.result))
    results.row(key, state.end, if (hasPane) results.withPane(values, PaneColumns.Only) else values)
  }

  def isEmpty: Boolean = state.isEmpty
  override def hasOnlyClosed: Boolean =
    !hasRows && Clamped.subtract(closing(), savedAt) <= FrameWindowOperator.FewWindows
  def due: Long = state.due
  def write(out: ByteSink): Unit = state.write(out)
}

private[window] object FrameWindowOperator {

  /** The maximum number of windows to close again; closing them costs less than saving a key once.
    */
  private val FewWindows = 16
}
