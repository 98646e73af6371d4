package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Reads and writes bytes as a row of one binary column, in place.
  *
  * Such a row consists of a word of null bits, a word with offset and length, and the bytes. So the
  * bytes are written after two reserved words, and the row points to the whole.
  */
private[state] final class BinaryRow {
  private val sink = new ByteSink(1 << 12)
  private val row = new UnsafeRow(1)

  /** A sink for the next row. */
  def begin(): ByteSink = {
    sink.reset(BinaryRow.Header)
    sink
  }

  /** The bytes written since `begin`, as a row, valid until the next `begin`. */
  def end(): UnsafeRow = {
    val length = sink.position - BinaryRow.Header
    sink.align()
    Platform.putLong(sink.bytes, Platform.BYTE_ARRAY_OFFSET.toLong, 0L)
    val place = BinaryRow.Header.toLong << 32 | length
    Platform.putLong(sink.bytes, Platform.BYTE_ARRAY_OFFSET.toLong + 8, place)
    row.pointTo(sink.bytes, sink.position)
    row
  }
}

private[state] object BinaryRow {
  private val Header = 16

  /** The number of bytes of a row. */
  def length(row: UnsafeRow): Int = row.getLong(0).toInt

  /** Points a source at the bytes of a row, in place.
    *
    * A state store puts a byte before each row, so words are read unaligned, if the machine
    * supports that.
    */
  def open(row: UnsafeRow, source: ByteSource): Unit = row.getBaseObject match {
    case bytes: Array[Byte] if Platform.unaligned() =>
      val start = row.getBaseOffset - Platform.BYTE_ARRAY_OFFSET + (row.getLong(0) >>> 32)
      source.reset(bytes, start.toInt)
    case _ => source.reset(row.getBinary(0), 0)
  }
}
