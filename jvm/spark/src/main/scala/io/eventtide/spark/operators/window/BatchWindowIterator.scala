package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric

import io.eventtide.kernel.window.{BlockStore, FrameArchive}
import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.operators.{BatchTime, Preaggregation, WindowOperatorSpec}

/** The windows of one partition of a batch query, in which every window closes.
  *
  * If rows are aggregated by frame, the frames of a key come in order. A window is then emitted
  * before the first frame after its end is added, so only the open windows of a key are in memory.
  * Otherwise all rows of a key are added before its first result.
  */
private[window] final class BatchWindowIterator(
    spec: WindowOperatorSpec,
    input: Iterator[InternalRow],
    preaggregation: Preaggregation,
    outputRows: SQLMetric
) extends KeyedWindowIterator(spec) {
  private val calls = spec.newCalls
  private val rows = KeyedFrameReader.of(spec, input, preaggregation, calls)
  private val buffers = spec.newBuffers(calls)
  private val isByFrame = preaggregation == Preaggregation.AllByFrame
  private val rowsPerStep = if (isByFrame) 1 else Int.MaxValue

  protected val windows: KeyedWindowOperator = spec.settings.retainingRows match {
    case Some(kind) => RetainedRowWindowOperator.inMemory(spec, kind, calls, buffers)
    case None if isByFrame =>
      val state = spec.newState(buffers, BlockStore.None, blockSize = Int.MaxValue)
      val limits = new FrameLimits {
        override def closing: Long = if (rows.isSameKey) rows.frame else Long.MaxValue
      }
      new FrameWindowOperator(spec, state, calls, buffers, limits, late = None)
    case None =>
      new AggregatingWindowOperator(spec, BatchTime.EndOfInput, FrameArchive.None, calls, buffers)
  }

  override protected def current: InternalRow = {
    outputRows += 1
    super.current
  }

  protected def openNext(): Boolean = {
    val more = rows.hasNext
    if (more) {
      select(rows.nextKey())
      buffers.reset()
      windows.begin()
      addRows(rows, rowsPerStep)
    }
    more
  }

  protected def continueKey(): Boolean = {
    val more = rows.isSameKey
    if (more) addRows(rows, rowsPerStep)
    more
  }

  protected def leaveKey(): Unit = ()
}
