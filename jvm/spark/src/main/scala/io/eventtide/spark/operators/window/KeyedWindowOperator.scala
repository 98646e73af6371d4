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

  /** Takes up a key with state. */
  def read(in: ByteSource): Unit

  /** Takes what is at hand of the key's rows. */
  def add(rows: KeyedFrameReader): Unit

  /** All rows of the key are here: what is due can be given. */
  def close(): Unit

  /** How many rows of a key are taken before it is closed; more come after `again`. */
  def maxRowsPerStep: Int = Int.MaxValue

  /** All has been given, and the key has more rows. */
  def again(): Unit = ()

  /** Turns to the next row of results; false when all have been given. */
  def next(): Boolean

  /** That row, good until the next one. */
  def row(key: UnsafeRow): InternalRow

  /** All has been given: what is no longer needed goes. */
  def settle(): Unit = ()

  def isEmpty: Boolean

  /** Whether all that was done is to close a few windows, which can as well be done again. */
  def hasOnlyClosed: Boolean

  /** The end of the window with which this key is next due; `FrameWindowState.Never` if with none. */
  def due: Long

  /** The watermark of the key at which its next window closes; `FrameWindowState.Never` where it has none. */
  def closesAt: Long = FrameWindowState.Never

  /** The end with which it is due by the watermark of its group; `FrameWindowState.Never` if with none. */
  def dueInGroup: Long = FrameWindowState.Never

  /** The time at which it is due by the clock, in microseconds; `FrameWindowState.Never` for never. */
  def deadline: Long

  def write(out: ByteSink): Unit

  /** The watermark of the key, in microseconds; None where it has none of its own, or not yet. */
  def watermark: Option[Long] = None
}

/** One row a window, when it closes. */
private[window] final class FinalWindowOperator(
    task: WindowTaskSpec,
    state: FrameStore,
    calls: AggregateFunctions,
    buffers: BufferPool
) extends KeyedWindowOperator {
  private val ring = task.newRing(buffers, state.blocks)
  private val results = new ResultProjection(task.plan)
  private var hasRows = false // now
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

  /** To close so many again costs less than to save a key once. */
  private[window] val FewWindows = 16

  /** The rows have been judged before they came here. */
  def tooLate(frame: Long): Nothing =
    throw new IllegalStateException(s"a late row has passed: frame $frame")
}
