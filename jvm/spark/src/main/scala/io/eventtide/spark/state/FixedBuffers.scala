package io.eventtide.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SpecificInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Buffers of one length, each an `UnsafeRow` that lies in the bytes it was read from.
  *
  * Reading one points a row at it, changing it changes those bytes, and writing copies them: nothing
  * is decoded, and nothing is allocated once the pool has grown to the longest key.
  */
private[state] final class FixedBuffers(calls: AggregateCalls) extends WindowBuffers {
  private val empty: UnsafeRow = {
    val values = new SpecificInternalRow(calls.types.toSeq)
    calls.initialize(values)
    UnsafeProjection.create(calls.types).apply(values).copy()
  }
  private val length = empty.getSizeInBytes

  private val rows = mutable.ArrayBuffer(new UnsafeRow(calls.types.length))
  private var used = 1

  private val chunks = mutable.ArrayBuffer.empty[Array[Byte]]
  private var chunk = -1
  private var at = FixedBuffers.ChunkBytes

  def reset(): Unit = {
    used = 1
    chunk = -1
    at = FixedBuffers.ChunkBytes
  }

  def input(row: UnsafeRow): Int = {
    rows(WindowBuffers.Input).pointTo(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)
    WindowBuffers.Input
  }

  def row(buffer: Int): InternalRow = rows(buffer)

  def fresh(): Int = copyOf(empty)

  def copy(from: Int): Int = copyOf(rows(from))

  private def copyOf(row: UnsafeRow): Int = {
    if (at + length > FixedBuffers.ChunkBytes) nextChunk()
    val bytes = chunks(chunk)
    val offset = Platform.BYTE_ARRAY_OFFSET.toLong + at
    Platform.copyMemory(row.getBaseObject, row.getBaseOffset, bytes, offset, length.toLong)
    at += length
    pointed(bytes, offset)
  }

  private def nextChunk(): Unit = {
    chunk += 1
    if (chunk == chunks.length) chunks += new Array[Byte](math.max(FixedBuffers.ChunkBytes, length))
    at = 0
  }

  private def pointed(bytes: Array[Byte], offset: Long): Int = {
    if (used == rows.length) rows += new UnsafeRow(calls.types.length)
    rows(used).pointTo(bytes, offset, length)
    used += 1
    used - 1
  }

  def merge(into: Int, from: Int): Unit = calls.merge(rows(into), rows(from))

  def deduct(into: Int, from: Int): Unit = calls.deduct(rows(into), rows(from))

  def write(buffer: Int, out: ByteSink): Unit = {
    out.align()
    val start = out.reserve(length)
    val offset = Platform.BYTE_ARRAY_OFFSET.toLong + start
    val row = rows(buffer)
    Platform.copyMemory(row.getBaseObject, row.getBaseOffset, out.bytes, offset, length.toLong)
  }

  def read(in: ByteSource): Int = {
    in.align()
    val start = in.skip(length)
    pointed(in.bytes, Platform.BYTE_ARRAY_OFFSET.toLong + start)
  }
}

private object FixedBuffers {
  private val ChunkBytes = 1 << 14
}
