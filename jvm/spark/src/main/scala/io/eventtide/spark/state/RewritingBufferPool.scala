package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}
import io.eventtide.spark.EventtideException

/** Reads buffers in the layout of other aggregates, and writes them in the layout of the query's
  * aggregates.
  *
  * An aggregate that a saved buffer lacks is empty, and its `MissingRows` is true.
  */
private[spark] final class RewritingBufferPool(
    own: BufferPool,
    calls: AggregateFunctions,
    from: BufferLayout,
    to: BufferLayout
) extends BufferPool {
  private val types = calls.types
  private val saved = new UnsafeRow(from.columns)
  private val savedBytes = from.bytes.map(new Array[Byte](_))
  private val row = new GenericInternalRow(types.length)
  private val sources = Array.fill(types.length)(RewritingBufferPool.NoColumn)

  savedBytes.foreach(bytes => saved.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length))
  findSources()

  private def findSources(): Unit = {
    val empty = calls.empty
    types.indices.foreach(i => row.update(i, empty.get(i, types(i))))
    for ((part, at) <- to.parts.zip(to.offsets)) from.parts.indexWhere(part.fits) match {
      case -1 => if (part.isMissingRows) row.update(at, isLacked(part)) else checkMarked(part)
      case i => part.types.indices.foreach(j => sources(at + j) = from.offsets(i) + j)
    }
  }

  private def isLacked(missing: BufferPart): Boolean = {
    val aggregate = to.parts.find(part => part.isOf(missing) && !part.isMissingRows)
    !aggregate.exists(wanted => from.parts.exists(wanted.fits))
  }

  private def checkMarked(part: BufferPart): Unit =
    if (!to.parts.exists(other => other.isMissingRows && other.isOf(part))) {
      throw EventtideException(
        "STATE_OF_OTHER_AGGREGATES",
        "wanted" -> part.names.head,
        "found" -> from.parts.filterNot(_.isMissingRows).flatMap(_.names).mkString(", ")
      )
    }

  def reset(): Unit = own.reset()
  def input(row: UnsafeRow): Int = own.input(row)
  def aggregated(row: UnsafeRow): Int = own.aggregated(row)
  def row(buffer: Int): InternalRow = own.row(buffer)
  def fresh(): Int = own.fresh()
  def copy(from: Int): Int = own.copy(from)
  def merge(into: Int, from: Int): Unit = own.merge(into, from)
  def deduct(into: Int, from: Int): Unit = own.deduct(into, from)
  def release(buffer: Int): Unit = own.release(buffer)
  def write(buffer: Int, out: ByteSink): Unit = own.write(buffer, out)

  def read(in: ByteSource): Int = {
    readSaved(in)
    for (i <- types.indices if sources(i) != RewritingBufferPool.NoColumn)
      row.update(i, saved.get(sources(i), types(i)))
    val into = own.fresh()
    calls.merge(own.row(into), row)
    into
  }

  private def readSaved(in: ByteSource): Unit = savedBytes match {
    case Some(bytes) =>
      CompressedWords.read(in, bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length >> 3)
    case None => ObjectBufferPool.readRow(in, saved)
  }
}

private object RewritingBufferPool {
  private val NoColumn = -1
}
