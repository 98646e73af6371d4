package io.eventtide.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SpecificInternalRow, UnsafeRow}
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Buffers of any length: rows of values and of the objects of typed aggregates. */
private[state] final class ObjectBufferPool(calls: AggregateFunctions) extends BufferPool {
  private val rows = mutable.ArrayBuffer.empty[InternalRow] // free slots are null
  private val numbers = new IdPool
  private val toBytes = Projections.columns(calls.types.toSeq)
  private val written = newRow()
  private val saved = new UnsafeRow(calls.types.length)

  reset()

  def reset(): Unit = {
    rows.clear()
    rows += null // the input row
    numbers.reset()
    numbers.take(): Unit
  }

  def input(row: UnsafeRow): Int = {
    rows(BufferPool.Input) = row
    BufferPool.Input
  }

  // With such buffers, Spark aggregates either all input rows or none.
  def aggregated(row: UnsafeRow): Int =
    throw new IllegalStateException("some rows have been aggregated, and others have not")

  def row(buffer: Int): InternalRow = rows(buffer)

  def fresh(): Int = {
    val number = numbers.take()
    val row = newRow()
    calls.initialize(row)
    if (number == rows.length) rows += row else rows(number) = row
    number
  }

  def copy(from: Int): Int = {
    val into = fresh()
    merge(into, from)
    into
  }

  def merge(into: Int, from: Int): Unit =
    if (from == BufferPool.Input) calls.take(rows(into), rows(from))
    else calls.mergeObjects(rows(into), rows(from))

  def deduct(into: Int, from: Int): Unit = calls.deduct(rows(into), rows(from))

  def release(buffer: Int): Unit = {
    rows(buffer) = null
    numbers.release(buffer)
  }

  def write(buffer: Int, out: ByteSink): Unit = {
    copyValues(rows(buffer), written)
    calls.typed.foreach(_.serializeAggregateBufferInPlace(written))
    val bytes = toBytes(written)
    out.putCount(bytes.getSizeInBytes.toLong)
    out.align()
    val start = out.reserve(bytes.getSizeInBytes)
    bytes.writeToMemory(out.bytes, Platform.BYTE_ARRAY_OFFSET.toLong + start)
  }

  // A saved buffer has the format of partial aggregation, so it is merged in the same way.
  def read(in: ByteSource): Int = {
    ObjectBufferPool.readRow(in, saved)
    val into = fresh()
    calls.merge(rows(into), saved)
    into
  }

  private def copyValues(from: InternalRow, to: InternalRow): Unit = {
    var i = 0
    while (i < calls.types.length) {
      to.update(i, from.get(i, calls.types(i)))
      i += 1
    }
  }

  private def newRow() = new SpecificInternalRow(calls.types.toSeq)
}

private[state] object ObjectBufferPool {

  /** Points a row at a saved buffer. */
  def readRow(in: ByteSource, row: UnsafeRow): Unit = {
    val length = in.getCount().toInt
    in.align()
    row.pointTo(in.bytes, Platform.BYTE_ARRAY_OFFSET.toLong + in.skip(length), length)
  }
}
