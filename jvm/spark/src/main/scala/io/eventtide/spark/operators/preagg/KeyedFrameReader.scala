package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BoundReference,
  Expression,
  UnsafeProjection,
  UnsafeRow
}

import io.eventtide.spark.operators.{Preaggregation, WindowOperatorSpec}
import io.eventtide.spark.state.{AggregateFunctions, Projections}

/** Reads rows that are grouped by key, aggregated or not, as one run per key, frame by frame.
  *
  * The key is valid until the next run begins. A buffer is inside the input's row, so a run must be
  * read to its end before the next run begins.
  *
  * @param keyOf
  *   the key of the last input row, valid until the next row
  * @param readsAhead
  *   whether the next row is read before it is asked for; without this, each row is a run of its own
  */
private[operators] final class KeyedFrameReader(
    input: Iterator[InternalRow],
    keyOf: InternalRow => UnsafeRow,
    frames: FrameReader,
    readsAhead: Boolean = true
) {
  private var isUnread = !readsAhead // whether the next row has not been asked for
  private var row: InternalRow = _
  private var rowKey: UnsafeRow = _
  private var run: UnsafeRow = _
  if (readsAhead) read()

  /** Whether there is a row; waits for the input if the next row has not been read. */
  def hasNext: Boolean = {
    if (isUnread) read()
    row != null
  }

  /** The key of the current row, valid until the next row; null at the end of the input. */
  def upcoming: UnsafeRow = if (row == null) null else rowKey

  /** Begins the run of the current frame's key and returns the key. */
  def nextKey(): UnsafeRow = {
    if (run == null) run = rowKey.copy() else run.copyFrom(rowKey)
    run
  }

  /** Whether the current frame belongs to the run. */
  def isSameKey: Boolean = !isUnread && row != null && rowKey == run

  /** The number of the current frame, or the event time of a row that is not aggregated. */
  def frame: Long = frames.frame

  /** The buffer of the current frame, or the row that is not aggregated. */
  def buffer: UnsafeRow = frames.buffer

  /** Whether the current frame is aggregated; false if only other rows are. */
  def isAggregated: Boolean = frames.isAggregated

  def advance(): Unit = if (!frames.next()) nextRow()

  private def nextRow(): Unit = if (readsAhead) read() else isUnread = true

  private def read(): Unit = {
    isUnread = false
    if (input.hasNext) {
      row = input.next()
      rowKey = keyOf(row)
      frames.begin(row)
    } else row = null
  }
}

private[operators] object KeyedFrameReader {

  /** Reads the input rows of a window. */
  def of(
      spec: WindowOperatorSpec,
      rows: Iterator[InternalRow],
      input: Preaggregation,
      calls: AggregateFunctions
  ): KeyedFrameReader = {
    val keys = spec.keys
    def columns = spec.rows.get.input.length
    input match {
      case Preaggregation.Off =>
        together(rows, keys, new FrameReader.RawRow(keys.length), spec.keyNumber)
      case Preaggregation.RowByRow | Preaggregation.MarkedRows =>
        val key = FrameReader.projection(keys, 0)
        new KeyedFrameReader(rows, key(_), new FrameReader.RawRow(keys.length), readsAhead = false)
      case Preaggregation.PackedRows =>
        val packs = new RowPacker.Reader(columns, columns, keys.length)
        val frames = new FrameReader.Mixed(keys.length, columns, packs, aggregates = false)
        together(rows, keys, frames, spec.keyNumber)
      case Preaggregation.OnTimeRows =>
        val packed =
          new PackedFramesReader(columns, calls.empty, MapSideFrameAggregateExec.FrameTimeColumns)
        val frames = new FrameReader.Mixed(keys.length, columns, packed, aggregates = true)
        together(rows, keys, frames, spec.keyNumber)
      case Preaggregation.AllByKey =>
        val frames = new PackedFramesReader(keys.length, calls.empty)
        together(rows, keys, frames, spec.keyNumber)
      case Preaggregation.AllByFrame =>
        KeyedFrameReader(rows, keys, new FrameReader.SingleFrame(keys.length, calls.attributes))
    }
  }

  /** Reads rows that begin with their keys, in an order in which each key occurs in one run. */
  private[preagg] def apply(
      rows: Iterator[InternalRow],
      keys: Seq[Attribute],
      frames: FrameReader
  ): KeyedFrameReader = {
    val key = FrameReader.projection(keys, 0)
    new KeyedFrameReader(rows, key(_), frames)
  }

  /** Reads rows that begin with their keys, in the order of a number of the keys. */
  private[preagg] def together(
      rows: Iterator[InternalRow],
      keys: Seq[Attribute],
      frames: FrameReader,
      number: => Expression
  ): KeyedFrameReader =
    if (keys.isEmpty) KeyedFrameReader(rows, keys, frames)
    else {
      val sorted = KeyGroupingIterator(rows, keys, number)
      new KeyedFrameReader(sorted, _ => sorted.keyOfRow, frames)
    }
}

/** The frames of a row of partial aggregation, after its keys; there is at least one. */
private[operators] trait FrameReader {

  /** Moves to the first frame of a row. */
  def begin(row: InternalRow): Unit

  /** Moves to the next frame of the row; false at the end. */
  def next(): Boolean

  def frame: Long
  def buffer: UnsafeRow

  /** Whether the row is aggregated, if the input also has rows that are not. */
  def isAggregated: Boolean = false
}

private[operators] object FrameReader {

  /** One frame and its buffers, in separate columns. */
  final class SingleFrame(keyCount: Int, buffers: Seq[Attribute]) extends FrameReader {
    private val bufferOf = projection(buffers, keyCount + 1)
    private var row: InternalRow = _

    def begin(row: InternalRow): Unit = this.row = row
    def next(): Boolean = false
    def frame: Long = row.getLong(keyCount)
    def buffer: UnsafeRow = bufferOf(row)
  }

  /** A row that is not aggregated, which begins with its keys and its time. */
  final class RawRow(keyCount: Int) extends FrameReader {
    private var row: UnsafeRow = _

    def begin(row: InternalRow): Unit = this.row = row.asInstanceOf[UnsafeRow]
    def next(): Boolean = false
    def frame: Long = row.getLong(keyCount)
    def buffer: UnsafeRow = row
  }

  /** Rows that are not aggregated, mixed with rows that hold packed frames or rows of a key in the
    * column after the row columns.
    *
    * @param aggregates
    *   whether packed frames are aggregated rows
    */
  final class Mixed(keyCount: Int, columns: Int, packed: FrameReader, aggregates: Boolean)
      extends FrameReader {
    private val rawRow = new RawRow(keyCount)
    private var now: FrameReader = rawRow

    def begin(row: InternalRow): Unit = {
      now = if (row.isNullAt(columns)) rawRow else packed
      now.begin(row)
    }

    def next(): Boolean = now.next()
    def frame: Long = now.frame
    def buffer: UnsafeRow = now.buffer
    override def isAggregated: Boolean = aggregates && (now eq packed)
  }

  /** Projects columns of a row; the first is at ordinal `from`. */
  def projection(columns: Seq[Attribute], from: Int): UnsafeProjection = Projections.unsafe(
    columns.zipWithIndex.map { case (column, i) =>
      BoundReference(from + i, column.dataType, column.nullable)
    }
  )
}
