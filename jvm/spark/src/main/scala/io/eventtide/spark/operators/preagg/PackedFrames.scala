package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Writes frames with their buffers contiguously, as a row of one binary column.
  *
  * {{{
  *   null bits | offset and length of the bytes | frame, buffer | frame, buffer | ...
  * }}}
  */
private[operators] final class PackedFramesWriter {
  import PackedFramesWriter.Header

  private var words = new Array[Long](64)
  private var at = 0
  val row = new UnsafeRow(1)

  /** Begins a row with `length` words of frames. */
  def begin(length: Int): Unit = {
    at = Header + length
    if (at > words.length) words = new Array[Long](at * 2)
    words(1) = (Header * 8L) << 32 | length * 8L
    row.pointTo(words, Platform.LONG_ARRAY_OFFSET.toLong, at * 8)
  }

  /** Puts frames before the frames that are already in the row. */
  def putBefore(from: Array[Long], start: Int, length: Int): Unit = {
    at -= length
    System.arraycopy(from, start, words, at, length)
  }
}

private object PackedFramesWriter {
  private val Header = 2
}

/** Reads the frames in a column of a row, in place.
  *
  * @param empty
  *   a buffer with the initial values
  * @param extraColumns
  *   the number of extra columns after the columns of each buffer
  */
private[operators] final class PackedFramesReader(
    column: Int,
    empty: UnsafeRow,
    extraColumns: Int = 0
) extends PackedReader(column) {
  private val bufferRow = new UnsafeRow(empty.numFields + extraColumns)
  private val bufferBytes = empty.getSizeInBytes + 8 * extraColumns +
    UnsafeRow.calculateBitSetWidthInBytes(bufferRow.numFields) -
    UnsafeRow.calculateBitSetWidthInBytes(empty.numFields)

  protected val entryBytes: Int = 8 + bufferBytes

  def frame: Long = Platform.getLong(bytes, at)

  def buffer: UnsafeRow = {
    bufferRow.pointTo(bytes, at + 8, bufferBytes)
    bufferRow
  }
}
