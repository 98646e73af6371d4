package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GeneratePredicate
import org.apache.spark.sql.catalyst.expressions.{BindReferences, UnsafeRow}

import io.eventtide.kernel.window.{
  AggregatingWindows,
  ByteSink,
  ByteSource,
  FrameArchive,
  FrameWindowState,
  KeyIdleness,
  KeyWatermark,
  PaneTiming,
  SharedWatermark,
  WindowSet
}
import io.eventtide.spark.latelog.LateLogWriter
import io.eventtide.spark.operators.late.{DeferredLateRows, KeyedLateRows}
import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.operators.{BatchTime, ResultProjection, RowGaps, WindowOperatorSpec}
import io.eventtide.spark.options.WindowKind
import io.eventtide.spark.state.{AggregateFunctions, BufferPool}

/** The windows of one key over aggregated rows; see the kernel's `AggregatingWindows`.
  *
  * @param archive
  *   the store for the key's closed frames that may still change
  * @param log
  *   the log for late rows of the partition; None if no row is judged by its key
  * @param groups
  *   the groups with the key's watermark; None if the key has its own watermark, or uses the
  *   query's
  */
private[window] final class AggregatingWindowOperator(
    spec: WindowOperatorSpec,
    batch: BatchTime,
    archive: FrameArchive,
    calls: AggregateFunctions,
    buffers: BufferPool,
    log: Option[LateLogWriter] = None,
    groups: Option[SharedWatermarkGroups] = None
) extends BufferingWindowOperator {
  private val settings = spec.settings
  private val times = settings.times
  private val shared = new SharedWatermark // the query's
  private val condition = spec.condition.map { condition =>
    GeneratePredicate.generate(BindReferences.bindReference(condition, spec.result.aggregates))
  }
  private val key = new AggregatingWindows(
    newWindows,
    newTime,
    settings.byKey.fold(AggregatingWindowOperator.NeverIdle)(_.idleness),
    settings.triggers.map(_.trigger),
    Option.when(settings.discards)(buffers),
    holds
  )
  private val gaps = RowGaps(spec)
  private lazy val deferred = new DeferredLateRows(spec.rows.get.input, until(_))
  private val late = log.map(new KeyedLateRows(spec, batch, _, () => key.watermark, () => reached))
  private val results = new ResultProjection(spec)
  private val panes = new PaneColumns(settings.triggers.map(_.name), spec.result.pane.length)
  private val lowestAt =
    calls.types.length // ordinal of the lowest event time, see `MapSideFrameAggregateExec`

  /** Whether a result, given as a buffer, meets the condition for early results; true without a
    * condition.
    */
  private def holds(result: Int): Boolean =
    condition.forall(_.eval(calls.evaluate(buffers.row(result))))

  private def reached: Long = groups.fold(key.reached)(_.reached)

  private def newWindows: WindowSet = settings.windows match {
    case kind: WindowKind.Aggregating =>
      val key = WindowKind.KeyBuffers(buffers, spec.combining, archive)
      kind.open(key, settings.latenessMicros)
    case other => throw new IllegalStateException(s"windows that retain rows: $other")
  }

  private def newTime: KeyWatermark = settings.byKey.flatMap(_.policy) match {
    case Some(policy) if !settings.hasGroups => spec.timeBy(policy, batch)
    case _ if groups.isDefined => groups.get.time
    case _ => shared
  }

  def begin(): Unit = {
    shared.set(batch.before, batch.after)
    key.begin()
  }

  def read(in: ByteSource): Unit = {
    shared.set(batch.before, batch.after)
    key.read(in)
  }

  def copyRecord(in: ByteSource, out: ByteSink): Unit = key.copyRecord(in, out)

  def add(rows: KeyedFrameReader): Unit =
    if (rows.isAggregated) addOnTime(rows.frame, rows.buffer)
    else addRow(rows.frame, rows.buffer)

  private def addRow(micros: Long, row: UnsafeRow): Unit =
    if (settings.isCountWindow && !KeyedLateRows.hasTime(micros, row, spec.keys.length, times))
      addWithoutTime(row)
    else if (late.isEmpty) { if (hasGap(micros, row)) take(micros, row): Unit }
    else if (!late.get.refuses(micros, row)) {
      if (take(micros, row)) late.get.passRow(micros, row)
      else if (key.judgesTogether) deferred.add(row)
      else late.get.add(micros, row)
    }

  // A batch query logs no rows: rows without a usable gap are in no session.
  private def hasGap(micros: Long, row: UnsafeRow): Boolean =
    gaps.isEmpty || !gaps.get.isMissing(row) && gaps.get.fits(micros, row)

  private def until(row: InternalRow): Long =
    row.getLong(spec.keys.length) + (if (gaps.isEmpty) 0 else gaps.get.of(row))

  private def addWithoutTime(row: UnsafeRow): Unit = {
    key.addWithoutTime(batch.now, buffers.input(row))
    late.foreach(_.passWithoutTime())
  }

  private def judgeAgain(row: UnsafeRow): Unit = {
    val micros = row.getLong(spec.keys.length)
    if (take(micros, row)) late.get.passRow(micros, row)
    else late.get.add(micros, row)
  }

  private def take(micros: Long, row: UnsafeRow): Boolean = {
    val onTime =
      if (gaps.isEmpty) key.add(micros, batch.now, buffers.input(row))
      else key.add(micros, gaps.get.of(row), batch.now, buffers.input(row))
    if (groups.isDefined)
      if (onTime) groups.get.accept(micros, micros) else groups.get.refuse(micros, micros)
    onTime
  }

  /** Adds the rows of a frame that are on time; the other rows of the frame are added one by one.
    */
  private def addOnTime(frame: Long, buffer: UnsafeRow): Unit = {
    val (lowest, highest) = (buffer.getLong(lowestAt), buffer.getLong(lowestAt + 1))
    val rows = buffer.getLong(lowestAt + 2)
    addFrame(frame, lowest, highest, rows, buffers.aggregated(buffer))
    if (groups.isDefined) groups.get.accept(lowest, highest)
    late.foreach(_.pass(lowest, rows))
  }

  private def addFrame(frame: Long, lowest: Long, highest: Long, rows: Long, buffer: Int): Unit = {
    val onTime = key.add(lowest, highest, rows, batch.now, buffer)
    if (!onTime) KeyedWindowOperator.tooLate(frame)
  }

  def close(): Unit = {
    if (!deferred.isEmpty) deferred.takeAll(judgeAgain)
    if (batch.isPeek) key.showAll() // by the watermark after the last batch
    else key.close(batch.now, batch.after, batch.isCredited)
    if (batch.closesAll && !batch.isPeek) key.closeAll()
  }

  override def maxRowsPerStep: Int = settings.maxRowsPerStep

  override def beginStep(): Unit = key.beginBatch()

  def next(): Boolean = key.next()

  def row(of: UnsafeRow): InternalRow = {
    val values = calls.evaluate(buffers.row(key.result))
    results.row(
      of,
      key.start,
      key.end,
      if (spec.result.pane.isEmpty) values else results.withPane(values, pane)
    )
  }

  // At the end of the input, windows close although no watermark has reached their end.
  private def pane: InternalRow = {
    val atEnd = batch.closesAll && key.timing == PaneTiming.Idle
    val timing = if (atEnd) PaneTiming.OnTime else key.timing
    panes(key.index, timing, batch.closesAll || key.isLast, key.trigger)
  }

  def isEmpty: Boolean = key.isDone
  def due: Long =
    if (groups.isDefined) key.dueByIdleness else math.min(key.due, key.dueByIdleness)
  override def dueInGroup: Long = if (groups.isDefined) key.due else FrameWindowState.Never
  override def deadline: Long = key.deadline
  override def closesAt: Long = key.closesAt
  def write(out: ByteSink): Unit = key.write(out)

  override def watermark: Option[Long] = key.watermark

  override def reportSoFar(): Unit = late.foreach(_.reportSoFar())
}

private[window] object AggregatingWindowOperator {

  /** No window is closed by idleness, and a key without data is removed immediately. */
  private val NeverIdle = KeyIdleness(timeout = None, ttl = 0)
}
