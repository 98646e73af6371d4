package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}
import io.eventtide.spark.operators.ResultProjection
import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.state.{AggregateFunctions, BufferPool, FrameStore}

/** The windows of one key at a time, between its state and its results. */
private[window] trait KeyedWindowOperator {

  /** Begins a key without state. */
  def begin(): Unit

  /** Restores a key from its state. */
  def read(in: ByteSource): Unit

  /** Adds the current row or frame of the key. */
  def add(rows: KeyedFrameReader): Unit

  /** Called after the rows of the key have been added; results can be emitted then. */
  def close(): Unit

  /** The maximum number of rows added before `close`; more rows of the key follow after `again`. */
  def maxRowsPerStep: Int = Int.MaxValue

  /** Called when all results have been emitted and the key has more rows. */
  def again(): Unit = ()

  /** Advances to the next output row; false when all have been emitted. */
  def next(): Boolean

  /** The current output row, valid until the next one. */
  def row(key: UnsafeRow): InternalRow

  /** Called when all results have been emitted; evicts data that is no longer needed. */
  def settle(): Unit = ()

  def isEmpty: Boolean

  /** Whether the key's only change is that a few windows have closed, which is cheap to repeat. */
  def hasOnlyClosed: Boolean

  /** The window end of the key's next timer; `FrameWindowState.Never` if there is none. */
  def due: Long

  /** The watermark of the key at which its next window closes; `FrameWindowState.Never` if there is
    * none.
    */
  def closesAt: Long = FrameWindowState.Never

  /** The window end of the next timer by the group's watermark; `FrameWindowState.Never` if there
    * is none.
    */
  def dueInGroup: Long = FrameWindowState.Never

  /** The next processing-time timer, in microseconds; `FrameWindowState.Never` if there is none. */
  def deadline: Long

  def write(out: ByteSink): Unit

  /** The watermark of the key, in microseconds; None if it has no per-key watermark (yet). */
  def watermark: Option[Long] = None
}

/** Emits one row per window, when the window closes. */
private[window] final class FinalWindowOperator(
    task: WindowTaskSpec,
    state: FrameStore,
    calls: AggregateFunctions,
    buffers: BufferPool
) extends KeyedWindowOperator {
  private val ring = task.newRing(buffers, state.blocks)
  private val results = new ResultProjection(task.plan)
  private var hasRows = false // whether the key has rows in this batch
  private var savedAt = 0L

  def begin(): Unit = ring.begin(task.passed)

  def read(in: ByteSource): Unit = {
    hasRows = false
    ring.read(in)
    savedAt = ring.closed
    ring.discardClosedUpTo(state.closed)
    ring.advanceTo(task.passed)
  }

  def add(rows: KeyedFrameReader): Unit = {
    hasRows = true
    if (!ring.add(rows.frame, buffers.input(rows.buffer))) KeyedWindowOperator.tooLate(rows.frame)
  }

  def close(): Unit = ()

  def next(): Boolean = ring.next(task.closing)

  def row(key: UnsafeRow): InternalRow =
    results.row(key, ring.end, calls.evaluate(buffers.row(ring.result)))

  def isEmpty: Boolean = ring.isEmpty
  def hasOnlyClosed: Boolean =
    !hasRows && Clamped.subtract(task.closing, savedAt) <= KeyedWindowOperator.FewWindows
  def due: Long = ring.due
  def deadline: Long = FrameWindowState.Never
  def write(out: ByteSink): Unit = ring.write(out)
}

private[window] object KeyedWindowOperator {

  def apply(
      task: WindowTaskSpec,
      state: FrameStore,
      calls: AggregateFunctions,
      buffers: BufferPool,
      groups: Option[SharedWatermarkGroups]
  ): KeyedWindowOperator = (task.keyed, task.plan.settings.panes) match {
    case (Some(keyed), _) =>
      val log = keyed.log.map(_.open(state.partition)) // a task may have several partitions
      task.plan.settings.storm match {
        case Some(storm) =>
          val archives = RowArchives(state.blocks, state.history)
          RetainedRowWindowOperator(task, storm, keyed, archives, calls, buffers, log)
        case None => new RowAtATimeWindowOperator(task.plan, keyed, calls, buffers, log, groups)
      }
    case (None, Some(panes)) => new PanedWindowOperator(task, panes, state, calls, buffers)
    case (None, None) => new FinalWindowOperator(task, state, calls, buffers)
  }

  /** The maximum number of windows to close again; that costs less than saving a key once. */
  private[window] val FewWindows = 16

  /** Fails: late rows have been removed upstream. */
  def tooLate(frame: Long): Nothing =
    throw new IllegalStateException(s"a late row has passed: frame $frame")
}
