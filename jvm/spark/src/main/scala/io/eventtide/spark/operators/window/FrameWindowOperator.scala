package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}
import io.eventtide.spark.operators.late.KeyedLateRows
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
  * @param late
  *   judges rows that are not aggregated: in real-time mode
  */
private[window] final class FrameWindowOperator(
    spec: WindowOperatorSpec,
    state: FrameWindowState,
    calls: AggregateFunctions,
    buffers: BufferPool,
    limits: FrameLimits,
    late: Option[KeyedLateRows]
) extends BufferingWindowOperator {
  private val results = new ResultProjection(spec)
  private val hasPane = spec.result.pane.nonEmpty
  private var hasRows = false // whether the key has rows in this batch
  private var savedAt = 0L
  private val frames = spec.settings.spec.frames

  def begin(): Unit = state.begin(limits.passed)

  def read(in: ByteSource): Unit = {
    hasRows = false
    state.read(in)
    savedAt = state.closed
    state.discardClosedUpTo(limits.emitted)
    state.advanceTo(limits.passed)
  }

  def copyRecord(in: ByteSource, out: ByteSink): Unit = {
    state.read(in)
    state.write(out)
  }

  def add(rows: KeyedFrameReader): Unit =
    if (late.isEmpty) add(rows.frame, rows.buffer)
    else addRow(rows.frame, rows.buffer, late.get)

  private def add(frame: Long, buffer: UnsafeRow): Unit = {
    hasRows = true
    if (!state.add(frame, buffers.input(buffer))) KeyedWindowOperator.tooLate(frame)
  }

  private def addRow(micros: Long, row: UnsafeRow, judge: KeyedLateRows): Unit =
    if (!judge.refuses(micros, row)) {
      if (micros < limits.lateBelow) judge.add(micros, row)
      else {
        add(frames.index(micros), row)
        judge.passRow(micros, row)
      }
    }

  def close(): Unit = ()

  def next(): Boolean = state.next(limits.closing)

  def row(key: UnsafeRow): InternalRow = {
    val values = calls.evaluate(buffers.row(state.result))
    results.row(key, state.end, if (hasPane) results.withPane(values, PaneColumns.Only) else values)
  }

  def isEmpty: Boolean = state.isEmpty
  override def hasOnlyClosed: Boolean =
    !hasRows && Clamped.subtract(limits.closing, savedAt) <= FrameWindowOperator.FewWindows
  def due: Long = state.due
  def write(out: ByteSink): Unit = state.write(out)

  override def reportSoFar(): Unit = late.foreach(_.reportSoFar())

  override def emittedUpTo(limit: Long): Unit = limits.emitted = limit
}

private[window] object FrameWindowOperator {

  /** The maximum number of windows to close again; closing them costs less than saving a key once.
    */
  private val FewWindows = 16
}
