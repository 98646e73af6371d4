package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{
  ByteSink,
  ByteSource,
  EarlyPanes,
  FrameWindowState,
  PaneArchives,
  PaneBoundaries,
  PaneTiming,
  PanedRing
}
import io.eventtide.spark.operators.ResultProjection
import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.options.PaneSettings
import io.eventtide.spark.state.{AggregateFunctions, BufferPool, FrameStore}

/** Emits panes: rows before a window closes, when it closes, and after.
  *
  * Early panes fire when `earlyEveryMicros` have passed since the first row after the last panes,
  * or `earlyRows` rows have arrived since then. With a condition, they fire in every batch, for
  * windows whose results meet it.
  */
private[window] final class PanedWindowOperator(
    task: WindowTaskSpec,
    panes: PaneSettings,
    state: FrameStore,
    calls: AggregateFunctions,
    buffers: BufferPool
) extends KeyedWindowOperator {
  private val plan = task.plan
  private val spec = plan.settings.spec
  private val boundaries = PaneBoundaries(task.passed, task.closing, task.last)

  private val ring = new PanedRing(
    spec.shape,
    buffers,
    archive => task.newRing(buffers, archive),
    PaneArchives(state.blocks, Option.when(panes.latenessMicros > 0)(state.history)),
    panes.givesEarly,
    panes.discards
  )
  private val early = new Early
  private val results = new ResultProjection(plan)

  private var rowsSince = 0L // the key's rows since its last early panes
  private var dueAt = FrameWindowState.Never

  def begin(): Unit = {
    ring.begin(task.passed, task.lastPassed)
    rowsSince = 0
    dueAt = FrameWindowState.Never
  }

  def read(in: ByteSource): Unit = {
    rowsSince = in.getCount()
    val saved = in.getNumber()
    dueAt =
      if (panes.earlyEveryMicros.isDefined) saved else FrameWindowState.Never // a past run's timer
    ring.read(in)
    ring.advanceTo(task.passed, task.lastPassed)
  }

  def write(out: ByteSink): Unit = {
    out.putCount(rowsSince)
    out.putNumber(dueAt)
    ring.write(out)
  }

  def add(rows: KeyedFrameReader): Unit = {
    val buffer = rows.buffer
    if (!ring.add(rows.frame, buffers.input(buffer))) KeyedWindowOperator.tooLate(rows.frame)
    if (plan.rowsOrdinal >= 0) rowsSince += buffer.getLong(plan.rowsOrdinal)
  }

  def close(): Unit = {
    if (ring.hasChanged && dueAt == FrameWindowState.Never)
      panes.earlyEveryMicros.foreach(every => dueAt = Clamped.add(task.nowMicros, every))
    early.isDue = ring.hasChanged && (panes.hasCondition || byClock || byRows)
    if (early.isDue) {
      rowsSince = 0
      dueAt = FrameWindowState.Never
    }
    ring.give(boundaries, early)
  }

  private def byClock: Boolean = dueAt <= task.nowMicros

  private def byRows: Boolean = panes.earlyRows.exists(rowsSince >= _)

  def next(): Boolean = {
    val found = ring.next()
    if (!found && !ring.hasChanged) dueAt = FrameWindowState.Never // all changes closed
    found
  }

  def row(key: UnsafeRow): InternalRow = {
    val values = calls.evaluate(buffers.row(ring.result))
    results.row(key, ring.end, results.withPane(values, paneOf))
  }

  private val pane = new GenericInternalRow(3)

  private def paneOf: InternalRow = {
    pane.setInt(0, ring.index)
    pane.update(1, PanedWindowOperator.text(ring.timing))
    pane.setBoolean(2, ring.isLast)
    pane
  }

  def isEmpty: Boolean = ring.isEmpty
  def hasOnlyClosed: Boolean = false
  def due: Long = ring.due(task.latenessFrames)
  def deadline: Long = dueAt

  private final class Early extends EarlyPanes {
    var isDue = false

    private val condition = new TriggerCondition(plan, calls, buffers)

    def holds(result: Int): Boolean = condition(result)
  }
}

private[window] object PanedWindowOperator {
  private val texts = PaneTiming.all
    .map(timing => timing -> UTF8String.fromString(timing.name))
    .toMap

  /** The pane columns of a window that emits one row. */
  val TheOnlyPane: InternalRow = InternalRow(0, text(PaneTiming.OnTime), true)

  def text(timing: PaneTiming): UTF8String = texts(timing)
}
