package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BoundReference,
  UnsafeProjection,
  UnsafeRow
}

/** Rows of partial aggregation whose keys come together, as runs of one key each, frame by frame.
  *
  * The key is good until the next run begins. A buffer lies in the input's row, so a run has to be
  * read to its end before that.
  *
  * @param keyOf
  *   the key of the row that the input gave last, good until the next
  */
private[operators] final class KeyedFrameReader(
    input: Iterator[InternalRow],
    keyOf: InternalRow => UnsafeRow,
    frames: FrameReader
) {
  private var row: InternalRow = _
  private var rowKey: UnsafeRow = _
  private var run: UnsafeRow = _
  nextRow()

  def hasNext: Boolean = row != null

  /** The key of the row at hand, good until the next one; null when there is none. */
  def upcoming: UnsafeRow = if (row == null) null else rowKey

  /** Begins the run of the frame at hand. */
  def nextKey(): UnsafeRow = {
    if (run == null) run = rowKey.copy() else run.copyFrom(rowKey)
    run
  }

  /** Whether the frame at hand belongs to the run. */
  def isSameKey: Boolean = row != null && rowKey == run

  /** The number of the frame at hand, or the time of a row that has not been aggregated. */
  def frame: Long = frames.frame

  /** Its buffer, or that row. */
  def buffer: UnsafeRow = frames.buffer

  /** Whether it has been aggregated, where others have not. */
  def isAggregated: Boolean = frames.isAggregated

  def advance(): Unit = if (!frames.next()) nextRow()

  private def nextRow(): Unit =
    if (input.hasNext) {
      row = input.next()
      rowKey = keyOf(row)
      frames.begin(row)
    } else row = null
}

private[operators] object KeyedFrameReader {

  /** Rows that begin with their keys, in an order in which each key comes once. */
  def apply(
      rows: Iterator[InternalRow],
      keys: Seq[Attribute],
      frames: FrameReader
  ): KeyedFrameReader = {
    val key = FrameReader.projection(keys, 0)
    new KeyedFrameReader(rows, key(_), frames)
  }

  /** Rows that begin with their keys, in the order of `KeySortPrefix`. */
  def together(
      rows: Iterator[InternalRow],
      keys: Seq[Attribute],
      frames: FrameReader
  ): KeyedFrameReader =
    if (keys.isEmpty) KeyedFrameReader(rows, keys, frames)
    else {
      val sorted = KeyGroupingIterator(rows, keys)
      new KeyedFrameReader(sorted, _ => sorted.keyOfRow, frames)
    }

  /** As `together`, of rows as they are. */
  def whole(rows: Iterator[InternalRow], keys: Seq[Attribute]): KeyedFrameReader =
    together(rows, keys, new FrameReader.Whole(keys.length))
}

/** The frames of a row of partial aggregation, behind its keys; there is at least one. */
private[operators] trait FrameReader {

  /** Turns to the first frame of a row. */
  def begin(row: InternalRow): Unit

  /** Turns to the next frame of the row; false when there is none. */
  def next(): Boolean

  def frame: Long
  def buffer: UnsafeRow

  /** Whether the row has been aggregated, where others have not. */
  def isAggregated: Boolean = false
}

private[operators] object FrameReader {

  /** One frame, and its buffers, in columns of their own. */
  final class Single(keyCount: Int, buffers: Seq[Attribute]) extends FrameReader {
    private val bufferOf = projection(buffers, keyCount + 1)
    private var row: InternalRow = _

    def begin(row: InternalRow): Unit = this.row = row
    def next(): Boolean = false
    def frame: Long = row.getLong(keyCount)
    def buffer: UnsafeRow = bufferOf(row)
  }

  /** A row as it is, which begins with its keys and its time. */
  final class Whole(keyCount: Int) extends FrameReader {
    private var row: UnsafeRow = _

    def begin(row: InternalRow): Unit = this.row = row.asInstanceOf[UnsafeRow]
    def next(): Boolean = false
    def frame: Long = row.getLong(keyCount)
    def buffer: UnsafeRow = row
  }

  /** Rows as they are, and others with the packed frames of a key in the column behind theirs. */
  final class Mixed(keyCount: Int, columns: Int, packed: PackedFrames.Of) extends FrameReader {
    private val whole = new Whole(keyCount)
    private var now: FrameReader = whole

    def begin(row: InternalRow): Unit = {
      now = if (row.isNullAt(columns)) whole else packed
      now.begin(row)
    }

    def next(): Boolean = now.next()
    def frame: Long = now.frame
    def buffer: UnsafeRow = now.buffer
    override def isAggregated: Boolean = now eq packed
  }

  /** Some columns of a row, of which the first is at `from`. */
  def projection(columns: Seq[Attribute], from: Int): UnsafeProjection = UnsafeProjection.create(
    columns.zipWithIndex.map { case (column, i) =>
      BoundReference(from + i, column.dataType, column.nullable)
    }
  )
}
