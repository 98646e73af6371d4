package io.eventtide.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Buffers of one length, each an `UnsafeRow` in its own slot.
  *
  * Slots are never freed: once there are enough slots for the longest key, there is no allocation.
  */
private[state] final class UnsafeRowBufferPool(calls: AggregateFunctions) extends BufferPool {
  private val empty = calls.empty
  private val length = empty.getSizeInBytes

  private val rows = // the first two are input rows
    mutable.ArrayBuffer(new UnsafeRow(calls.inputColumns), new UnsafeRow(0))
  private val numbers = new IdPool

  private var chunk = Array.emptyByteArray // holds the last slot
  private var at = 0 // offset of the next slot

  reset()

  def reset(): Unit = {
    numbers.reset()
    numbers.take(): Unit // for input rows
    numbers.take(): Unit
  }

  def input(row: UnsafeRow): Int = {
    rows(BufferPool.Input).pointTo(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)
    BufferPool.Input
  }

  def aggregated(row: UnsafeRow): Int = {
    rows(BufferPool.Aggregated) = row
    BufferPool.Aggregated
  }

  def row(buffer: Int): UnsafeRow = rows(buffer)

  def fresh(): Int = copyOf(empty)

  // Input rows are buffers only if all of them are. A row with more columns has another layout.
  def copy(from: Int): Int =
    if (from > BufferPool.Aggregated || from == BufferPool.Input && calls.takesBuffers)
      copyOf(rows(from))
    else {
      val into = fresh()
      merge(into, from)
      into
    }

  private def copyOf(row: UnsafeRow): Int = {
    val number = take()
    val into = rows(number)
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      into.getBaseObject,
      into.getBaseOffset,
      length.toLong
    )
    number
  }

  private def take(): Int = {
    val number = numbers.take()
    if (number == rows.length) rows += slot()
    number
  }

  private def slot(): UnsafeRow = {
    if (at + length > chunk.length) nextChunk()
    val row = new UnsafeRow(calls.types.length)
    row.pointTo(chunk, Platform.BYTE_ARRAY_OFFSET.toLong + at, length)
    at += length
    row
  }

  private def nextChunk(): Unit = {
    chunk = new Array[Byte](math.max(UnsafeRowBufferPool.ChunkBytes, length))
    at = 0
  }

  def merge(into: Int, from: Int): Unit =
    if (from == BufferPool.Input) calls.take(rows(into), rows(from))
    else calls.merge(rows(into), rows(from))

  def deduct(into: Int, from: Int): Unit = calls.deduct(rows(into), rows(from))

  def release(buffer: Int): Unit = numbers.release(buffer)

  def write(buffer: Int, out: ByteSink): Unit = {
    val row = rows(buffer)
    CompressedWords.write(row.getBaseObject, row.getBaseOffset, length >> 3, out)
  }

  def read(in: ByteSource): Int = {
    val number = take()
    val row = rows(number)
    CompressedWords.read(in, row.getBaseObject, row.getBaseOffset, length >> 3)
    number
  }
}

private object UnsafeRowBufferPool {
  private val ChunkBytes = 1 << 14
}
