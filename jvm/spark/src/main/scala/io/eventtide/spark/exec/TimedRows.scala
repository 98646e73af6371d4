package io.eventtide.spark.exec

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  GenericInternalRow,
  UnsafeProjection,
  UnsafeRow
}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.kernel.window.{
  ByteSink,
  ByteSource,
  KeyTime,
  OwnTime,
  SharedTime,
  Silence,
  TimedWindows
}
import io.eventtide.spark.late.{LateLog, LateReason}
import io.eventtide.spark.state.{AggregateCalls, RowColumns, WindowBuffers}

/** Rows that come one by one: the keys, the event time in microseconds, and what else is used.
  *
  * @param input
  *   their columns
  * @param filters
  *   which rows each function takes
  * @param logged
  *   what is kept of a late row: its columns, and the names of its substream and its key
  * @param guard
  *   by which rows from the future are late too
  * @param order
  *   the column by which the rows of a key have to come; None for any order
  */
private[spark] final case class RowPlan(
    input: Seq[Attribute],
    filters: Seq[Option[Expression]],
    logged: Seq[Expression],
    guard: Option[FutureGuard],
    order: Option[Attribute]
) {
  def columns: RowColumns = RowColumns(input, filters)
}

/** One batch for an operator that judges rows by their keys; times in microseconds.
  *
  * @param before
  *   the query's watermark by which rows are late; None while there is none
  * @param after
  *   the query's watermark by which windows close
  * @param isCredited
  *   whether the time that has passed counts
  * @param log
  *   where late rows go
  */
private[exec] final case class KeyedBatch(
    before: Option[Long],
    after: Option[Long],
    isCredited: Boolean,
    log: LateLog
)

/** The windows of one key in its own time, over rows that come one by one. */
private[exec] final class TimedRows(
    task: WindowTask,
    rows: RowPlan,
    batch: KeyedBatch,
    calls: AggregateCalls,
    buffers: WindowBuffers
) extends KeyWindows {
  private val settings = task.plan.settings
  private val key = new TimedWindows(
    settings.windows.open(buffers, task.plan.counts.nonEmpty),
    time,
    settings.byKey.fold(TimedRows.NeverSilent)(_.silence)
  )
  private val results = new ResultRows(task.plan)

  private def time: KeyTime = settings.byKey.flatMap(_.policy) match {
    case Some(policy) => new OwnTime(policy, batch.isCredited)
    case None =>
      val shared = new SharedTime
      shared.set(batch.before, batch.after)
      shared
  }

  private val late = batch.log.open(TaskContext.getPartitionId())
  private val toLog = UnsafeProjection.create(bindReferences(rows.logged, rows.input))
  private val timeAt = task.plan.keys.length
  private val earliest = PartitionWatch.MinMicros
  private val latest = rows.guard.fold(PartitionWatch.MaxMicros)(_.limit(task.nowMicros))
  private val reason = LateReason.of(settings.windows.lateRule)

  def begin(): Unit = key.begin()

  def read(in: ByteSource): Unit = key.read(in)

  def add(micros: Long, row: UnsafeRow): Unit =
    if (row.isNullAt(timeAt) || micros < earliest || micros > PartitionWatch.MaxMicros)
      late.addWithoutTime(toLog(row))
    else if (micros > latest) addLate(micros, row, LateReason.Future)
    else if (key.add(micros, task.nowMicros, buffers.input(row))) late.onTime += 1
    else addLate(micros, row, reason)

  private def addLate(micros: Long, row: UnsafeRow, reason: LateReason): Unit = {
    late.judgedBy(key.watermark)
    late.add(toLog(row), reason, micros, settings.windows.windowsOf(micros))
  }

  def close(): Unit = key.close(task.nowMicros, batch.after)

  def next(): Boolean = key.next()

  def row(of: UnsafeRow): InternalRow = {
    val values = calls.evaluate(buffers.row(key.result))
    val all = if (settings.hasPanes) results.withPane(values, paneOf) else values
    results.row(of, key.start, key.end, all)
  }

  private val pane = new GenericInternalRow(3)

  // What silence has closed may be opened again.
  private def paneOf: InternalRow = {
    pane.setInt(0, key.index)
    pane.update(1, PaneRows.text(key.timing))
    pane.setBoolean(2, key.isLast)
    pane
  }

  def isEmpty: Boolean = key.isDone
  def hasOnlyClosed: Boolean = false
  def due: Long = key.due
  def deadline: Long = key.deadline
  def write(out: ByteSink): Unit = key.write(out)
}

private object TimedRows {

  /** Nothing is closed by silence, and a key that holds nothing is forgotten at once. */
  private val NeverSilent = Silence(timeout = None, keep = 0)
}
