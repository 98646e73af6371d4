package io.eventtide.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Buffers of one length, each an `UnsafeRow`.
  *
  * Reading one points a row at the bytes it was read from, changing it changes those, and writing
  * copies them: nothing is decoded. Those that are made have slots of their own, which they keep for
  * ever: nothing is allocated once there are as many as the longest key needs at once.
  */
private[state] final class FixedBuffers(calls: AggregateCalls) extends WindowBuffers {
  private val empty = calls.empty
  private val length = empty.getSizeInBytes

  // The buffers with odd numbers are made, those with even ones read, but for the input.
  private val made = mutable.ArrayBuffer.empty[UnsafeRow]
  private val read = mutable.ArrayBuffer.empty[UnsafeRow]
  private val numbersMade = new Numbers
  private val numbersRead = new Numbers

  private var chunk = Array.emptyByteArray // in which the last slot lies
  private var at = 0 // where the next one begins

  reset()

  def reset(): Unit = {
    numbersMade.reset()
    numbersRead.reset()
    pointed(null, 0, 0): Unit // the input's
  }

  def input(row: UnsafeRow): Int = {
    read(WindowBuffers.Input).pointTo(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)
    WindowBuffers.Input
  }

  def row(buffer: Int): UnsafeRow = if (isMade(buffer)) made(buffer >> 1) else read(buffer >> 1)

  private def isMade(buffer: Int): Boolean = (buffer & 1) == 1

  def fresh(): Int = copyOf(empty)

  def copy(from: Int): Int = copyOf(row(from))

  private def copyOf(row: UnsafeRow): Int = {
    val number = numbersMade.take()
    if (number == made.length) made += slot()
    copyBytes(row, made(number).getBaseObject, made(number).getBaseOffset)
    number << 1 | 1
  }

  private def slot(): UnsafeRow = {
    if (at + length > chunk.length) nextChunk()
    val row = new UnsafeRow(calls.types.length)
    row.pointTo(chunk, Platform.BYTE_ARRAY_OFFSET.toLong + at, length)
    at += length
    row
  }

  private def nextChunk(): Unit = {
    chunk = new Array[Byte](math.max(FixedBuffers.ChunkBytes, length))
    at = 0
  }

  private def copyBytes(row: UnsafeRow, bytes: AnyRef, offset: Long): Unit =
    Platform.copyMemory(row.getBaseObject, row.getBaseOffset, bytes, offset, length.toLong)

  private def pointed(bytes: Array[Byte], offset: Long, length: Int): Int = {
    val number = numbersRead.take()
    if (number == read.length) read += new UnsafeRow(calls.types.length)
    read(number).pointTo(bytes, offset, length)
    number << 1
  }

  def merge(into: Int, from: Int): Unit = calls.merge(row(into), row(from))

  def deduct(into: Int, from: Int): Unit = calls.deduct(row(into), row(from))

  def release(buffer: Int): Unit =
    if (isMade(buffer)) numbersMade.release(buffer >> 1) else numbersRead.release(buffer >> 1)

  def write(buffer: Int, out: ByteSink): Unit = {
    out.align()
    val start = out.reserve(length)
    copyBytes(row(buffer), out.bytes, Platform.BYTE_ARRAY_OFFSET.toLong + start)
  }

  def read(in: ByteSource): Int = {
    in.align()
    val start = in.skip(length)
    pointed(in.bytes, Platform.BYTE_ARRAY_OFFSET.toLong + start, length)
  }
}

private object FixedBuffers {
  private val ChunkBytes = 1 << 14
}
