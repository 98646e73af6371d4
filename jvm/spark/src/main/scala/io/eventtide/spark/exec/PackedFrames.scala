package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Frames with their buffers, written one after the other as a row of one binary column.
  *
  * {{{
  *   null bits | offset and length of the bytes | frame, buffer | frame, buffer | ...
  * }}}
  */
private[exec] final class PackedFrames {
  import PackedFrames.Header

  private var words = new Array[Long](64)
  private val packed = new UnsafeRow(1)

  /** A row of the frames that are in some words; good until the next. */
  def row(from: Array[Long], start: Int, length: Int): UnsafeRow = {
    if (Header + length > words.length) words = new Array[Long]((Header + length) * 2)
    words(1) = (Header * 8L) << 32 | length * 8L
    System.arraycopy(from, start, words, Header, length)
    packed.pointTo(words, Platform.LONG_ARRAY_OFFSET.toLong, (Header + length) * 8)
    packed
  }
}

private[exec] object PackedFrames {
  private val Header = 2

  /** The frames that a column of a row has, read where they lie. */
  final class Of(column: Int, empty: UnsafeRow) extends RowFrames {
    private val bufferRow = new UnsafeRow(empty.numFields)
    private val bufferBytes = empty.getSizeInBytes
    private var bytes: AnyRef = _
    private var at = 0L
    private var end = 0L

    def begin(row: InternalRow): Unit = {
      val packed = row.asInstanceOf[UnsafeRow]
      val place = packed.getLong(column)
      bytes = packed.getBaseObject
      at = packed.getBaseOffset + (place >>> 32)
      end = at + place.toInt
    }

    def next(): Boolean = {
      at += 8 + bufferBytes
      at < end
    }

    def frame: Long = Platform.getLong(bytes, at)

    def buffer: UnsafeRow = {
      bufferRow.pointTo(bytes, at + 8, bufferBytes)
      bufferRow
    }
  }
}
