package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.rowwindow.{RetainedRowWindows, RowContent, RowLimits}
import io.eventtide.kernel.window.{BlockStore, ByteSink, ByteSource}
import io.eventtide.spark.latelog.LateLogWriter
import io.eventtide.spark.operators.late.KeyedLateRows
import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.operators.{BatchTime, WindowOperatorSpec}
import io.eventtide.spark.options.WindowKind
import io.eventtide.spark.state.{AggregateFunctions, BufferPool, Projections}

/** The stores of a key's rows: the rows of windows, and the rows that the watermark has not
  * reached.
  */
private[window] final case class RowArchives(rows: BlockStore, waiting: BlockStore)

/** The windows of one key with Storm's semantics, over rows that are retained one by one.
  *
  * @param log
  *   the log for late rows of the partition; None if no row is late
  */
private[window] final class RetainedRowWindowOperator(
    spec: WindowOperatorSpec,
    kind: WindowKind.RetainingRows,
    batch: BatchTime,
    archives: RowArchives,
    calls: AggregateFunctions,
    buffers: BufferPool,
    log: Option[LateLogWriter],
    limits: RowLimits
) extends KeyedWindowOperator {
  // Rows with ingestion time need not wait for the watermark.
  private val windows = RetainedRowWindows(
    kind.spec,
    keepsLast = kind.emitsRows,
    archives.rows,
    archives.waiting,
    limits,
    countsAtOnce = kind.usesIngestionTime
  )
  private val results: ResultEmitter =
    if (kind.emitsRows) new RowResults(spec, kind, windows)
    else new AggregatedResults(spec, kind, windows, calls, buffers)

  private val rows = spec.rows.get
  private val toStore = Projections.unsafe(rows.stored.get, rows.input)
  private val stored = new UnsafeRowContent
  private val late = log.map(new KeyedLateRows(spec, batch, _, () => batch.before))
  private val lateBelow = new WatermarkLimit(identity)
  private val idleness = spec.settings.byKey.get.idleness // always set for such windows
  private var lastRow = Long.MinValue // the time of the last row, by the query's clock

  def begin(): Unit = {
    lastRow = Long.MinValue
    windows.begin()
    open()
  }

  def read(in: ByteSource): Unit = {
    lastRow = in.getNumber()
    windows.read(in)
    open()
  }

  private def open(): Unit = {
    if (batch.closesAll) windows.openAll() else windows.open(batch.after)
    results.begin()
  }

  def add(rows: KeyedFrameReader): Unit = {
    val (micros, row) = (rows.frame, rows.buffer)
    lastRow = math.max(lastRow, batch.now)
    if (late.isEmpty) take(micros, row)
    else if (!late.get.refuses(micros, row)) {
      if (micros < lateBelow.of(batch.before)) late.get.add(micros, row)
      else {
        take(micros, row)
        late.get.pass(micros, rows = 1)
      }
    }
  }

  private def take(micros: Long, row: UnsafeRow): Unit =
    windows.add(micros, stored.of(toStore(row))): Unit

  def close(): Unit = ()

  def next(): Boolean = results.next()

  def row(key: UnsafeRow): InternalRow = results.row(key)

  var isEmpty = false

  override def finishKey(): Unit = {
    windows.evict()
    isEmpty = windows.isEmpty || !windows.hasPending && idleness.isExpired(lastRow, batch.now)
    if (isEmpty) windows.forget()
  }

  def due: Long = windows.due

  override def deadline: Long =
    if (windows.hasPending) RetainedRowWindows.Never else idleness.expiresAt(lastRow)

  def write(out: ByteSink): Unit = {
    out.putNumber(lastRow)
    windows.write(out)
  }
}

private[window] object RetainedRowWindowOperator {

  /** For all rows of a key together; no row is retained after its windows have been emitted. */
  def inMemory(
      spec: WindowOperatorSpec,
      kind: WindowKind.RetainingRows,
      calls: AggregateFunctions,
      buffers: BufferPool
  ): RetainedRowWindowOperator = {
    val nowhere = RowArchives(BlockStore.None, BlockStore.None)
    val all = RowLimits(rows = Int.MaxValue, bytes = Int.MaxValue)
    new RetainedRowWindowOperator(
      spec,
      kind,
      BatchTime.EndOfInput,
      nowhere,
      calls,
      buffers,
      None,
      all
    )
  }
}

/** A row as bytes. */
private final class UnsafeRowContent extends RowContent {
  private var row: UnsafeRow = _

  def of(row: UnsafeRow): UnsafeRowContent = {
    this.row = row
    this
  }

  def length: Int = row.getSizeInBytes

  def copyTo(bytes: Array[Byte], at: Int): Unit =
    row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)
}
