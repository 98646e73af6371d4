package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Reads and writes bytes as a row of one binary column, in place.
  *
  * Such a row is a word of null bits, a word with the offset and the length, and the bytes: so the
  * bytes are written behind two words, and the row is pointed at the whole.
  */
private[state] final class BinaryRow {
  private val sink = new ByteSink(1 << 12)
  private val row = new UnsafeRow(1)

  /** A sink for the next row. */
  def begin(): ByteSink = {
    sink.reset(BinaryRow.Header)
    sink
  }

  /** What was written since `begin`, as a row, good until the next one begins. */
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

  /** Points a source at the bytes of a row, where they lie.
    *
    * A state store puts a byte of its own before a row, so that words are read across their borders,
    * where the machine can do that.
    */
  def open(row: UnsafeRow, source: ByteSource): Unit = row.getBaseObject match {
    case bytes: Array[Byte] if Platform.unaligned() =>
      val start = row.getBaseOffset - Platform.BYTE_ARRAY_OFFSET + (row.getLong(0) >>> 32)
      source.reset(bytes, start.toInt)
    case _ => source.reset(row.getBinary(0), 0)
  }
}
