package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.window.ByteSource

/** Replaces the id of saved records; a record begins with its version and its id.
  *
  * Buffers in a record may be aligned. So the bytes after the id move by a multiple of eight.
  */
private[state] final class RecordIds {
  private val values = new BinaryRow
  private val source = new ByteSource

  /** The record with this id, valid until the next call. */
  def replace(saved: UnsafeRow, id: Long): UnsafeRow = {
    BinaryRow.open(saved, source)
    val end = source.position + BinaryRow.length(saved)
    val version = source.getByte()
    val first = source.position
    source.getNumber(): Unit
    val out = values.begin()
    out.putByte(version)
    out.putNumber(id, source.position - first)
    val rest = end - source.position
    val at = out.reserve(rest)
    System.arraycopy(source.bytes, source.position, out.bytes, at, rest)
    values.end()
  }
}
