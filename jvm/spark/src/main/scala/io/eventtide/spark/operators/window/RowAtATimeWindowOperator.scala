package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.kernel.window.{
  ByteSink,
  ByteSource,
  FrameWindowState,
  KeyIdleness,
  KeyWatermark,
  PaneTiming,
  SharedWatermark,
  TimedWindows,
  WindowSet
}
import io.eventtide.spark.latelog.PartitionLate
import io.eventtide.spark.operators.late.{DeferredLateRows, KeyedLateRows}
import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.operators.{BatchTime, ResultProjection, WindowOperatorSpec}
import io.eventtide.spark.options.WindowKind
import io.eventtide.spark.state.{AggregateFunctions, BufferPool}

/** The windows of one key, by the key's own time, over rows that are not all aggregated upstream.
  *
  * @param log
  *   the log for late rows of the partition; None if no row is late
  * @param groups
  *   the groups with the key's watermark; None if the key has its own watermark, or uses the
  *   query's
  */
private[window] final class RowAtATimeWindowOperator(
    plan: WindowOperatorSpec,
    batch: BatchTime,
    calls: AggregateFunctions,
    buffers: BufferPool,
    log: Option[PartitionLate] = None,
    groups: Option[SharedWatermarkGroups] = None
) extends KeyedWindowOperator {
  private val settings = plan.settings
  private val times = settings.times
  private val key = new TimedWindows(
    newWindows,
    time,
    settings.byKey.fold(RowAtATimeWindowOperator.NeverSilent)(_.idleness),
    settings.triggers.map(_.trigger),
    Option.when(settings.triggers.exists(_.trigger.givesEarly))(newWindows),
    new TriggerCondition(plan, calls, buffers)
  )
  private lazy val aside = new DeferredLateRows(plan.rows.get.input, plan.keys.length)
  private val late = log.map(new KeyedLateRows(plan, batch, _, () => key.watermark))
  private val results = new ResultProjection(plan)
  private val lowestAt =
    calls.types.length // ordinal of the lowest event time, see `MapSideFrameAggregateExec`

  private def newWindows: WindowSet = settings.windows match {
    case merged: WindowKind.Aggregating => merged.open(buffers, plan.counts.nonEmpty)
    case other => throw new IllegalStateException(s"rows of their own: $other")
  }

  private def time: KeyWatermark = settings.byKey.flatMap(_.policy) match {
    case Some(policy) if !settings.hasGroups => plan.timeBy(policy, batch)
    case _ if groups.isDefined => groups.get.time
    case _ =>
      val shared = new SharedWatermark
      shared.set(batch.before, batch.after)
      shared
  }

  def begin(): Unit = key.begin()

  def read(in: ByteSource): Unit = key.read(in)

  def add(rows: KeyedFrameReader): Unit =
    if (rows.isAggregated) addFrame(rows.frame, rows.buffer) else addRow(rows.frame, rows.buffer)

  private def addRow(micros: Long, row: UnsafeRow): Unit =
    if (settings.isCountWindow && !KeyedLateRows.hasTime(micros, row, plan.keys.length, times))
      addWithoutTime(row)
    else if (late.isEmpty) take(micros, row): Unit
    else if (!late.get.refuses(micros, row)) {
      if (take(micros, row)) late.get.pass(micros, rows = 1)
      else if (key.judgesTogether) aside.add(row)
      else late.get.add(micros, row)
    }

  private def addWithoutTime(row: UnsafeRow): Unit = {
    key.addWithoutTime(batch.now, buffers.input(row))
    late.foreach(_.passWithoutTime())
  }

  private def judgeAgain(row: UnsafeRow): Unit = {
    val micros = row.getLong(plan.keys.length)
    if (take(micros, row)) late.get.pass(micros, rows = 1)
    else late.get.add(micros, row)
  }

  private def take(micros: Long, row: UnsafeRow): Boolean = {
    val onTime = key.add(micros, batch.now, buffers.input(row))
    if (groups.isDefined)
      if (onTime) groups.get.accept(micros, micros) else groups.get.refuse(micros, micros)
    onTime
  }

  private def addFrame(frame: Long, buffer: UnsafeRow): Unit = {
    val (lowest, highest) = (buffer.getLong(lowestAt), buffer.getLong(lowestAt + 1))
    val rows = buffer.getLong(lowestAt + 2)
    val onTime = key.add(lowest, highest, rows, batch.now, buffers.aggregated(buffer))
    if (!onTime) KeyedWindowOperator.tooLate(frame)
    if (groups.isDefined) groups.get.accept(lowest, highest)
    late.foreach(_.pass(lowest, rows))
  }

  def close(): Unit = {
    if (!aside.isEmpty) aside.takeAll(judgeAgain)
    key.close(batch.now, batch.after, batch.isCredited)
    if (batch.isPeek) key.showAll() else if (batch.closesAll) key.closeAll()
  }

  override def maxRowsPerStep: Int = settings.maxRowsPerStep

  override def again(): Unit = key.again()

  def next(): Boolean = key.next()

  def row(of: UnsafeRow): InternalRow = {
    val values = calls.evaluate(buffers.row(key.result))
    val all = if (plan.result.pane.nonEmpty) results.withPane(values, paneOf) else values
    results.row(of, key.start, key.end, all)
  }

  private val pane = new GenericInternalRow(plan.result.pane.length)
  private val names = settings.triggers.map(trigger => UTF8String.fromString(trigger.name)).toArray

  // A window that was closed by idleness may be opened again.
  private def paneOf: InternalRow = {
    pane.setInt(0, key.index)
    pane.update(1, PanedWindowOperator.text(if (batch.closesAll) PaneTiming.OnTime else key.timing))
    pane.setBoolean(2, batch.closesAll || key.isLast)
    if (pane.numFields > 3) pane.update(3, names(key.trigger))
    pane
  }

  def isEmpty: Boolean = key.isDone
  def hasOnlyClosed: Boolean = false
  def due: Long =
    if (groups.isDefined) key.dueBySilence else math.min(key.due, key.dueBySilence)
  override def dueInGroup: Long = if (groups.isDefined) key.due else FrameWindowState.Never
  def deadline: Long = key.deadline
  def write(out: ByteSink): Unit = key.write(out)
  override def watermark: Option[Long] = key.watermark
  override def closesAt: Long = key.closesAt
}

private object RowAtATimeWindowOperator {

  /** No window is closed by idleness, and a key without data is removed at once. */
  private val NeverSilent = KeyIdleness(timeout = None, keep = 0)
}
