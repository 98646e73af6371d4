package io.eventtide.kernel.rowwindow

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** The bytes of an incoming row, which are only copied. */
trait RowContent {

  /** The number of bytes. */
  def length: Int

  /** Copies the row into `bytes`, from position `at` on. */
  def copyTo(bytes: Array[Byte], at: Int): Unit
}

/** Some rows of a key with their times, in order; rows are read in place, without a copy.
  *
  *   - '''Restart:''' the record has a version.
  */
private[rowwindow] final class RowBlock {
  private var size = 0
  private var times = new Array[Long](RowBlock.Few)
  private var starts = new Array[Int](RowBlock.Few + 1) // and the end of the last row
  private val own = new ByteSink
  private var content: Array[Byte] = Array.emptyByteArray

  def count: Int = size
  def isEmpty: Boolean = size == 0
  def time(row: Int): Long = times(row)
  def bytes: Array[Byte] = content
  def start(row: Int): Int = starts(row)
  def length(row: Int): Int = starts(row + 1) - starts(row)
  def byteCount: Int = starts(size) - starts(0)

  def clear(): Unit = {
    size = 0
    own.reset(0)
    content = own.bytes
    starts(0) = 0
  }

  def add(ts: Long, row: RowContent): Unit = {
    val at = begin(ts, row.length)
    row.copyTo(content, at)
  }

  /** Adds a row of another block. */
  def add(from: RowBlock, row: Int): Unit = {
    val at = begin(from.time(row), from.length(row))
    System.arraycopy(from.bytes, from.start(row), content, at, from.length(row))
  }

  def addAll(from: RowBlock): Unit = {
    var row = 0
    while (row < from.count) {
      add(from, row)
      row += 1
    }
  }

  private def begin(ts: Long, length: Int): Int = {
    ensure(size + 1)
    times(size) = ts
    val at = own.reserve(length)
    content = own.bytes
    size += 1
    starts(size) = at + length
    at
  }

  private def ensure(rows: Int): Unit = if (rows > times.length) {
    val room = math.max(rows, times.length * 2)
    times = java.util.Arrays.copyOf(times, room)
    starts = java.util.Arrays.copyOf(starts, room + 1)
  }

  def copyTimes(into: Array[Long], at: Int): Unit = System.arraycopy(times, 0, into, at, size)

  def write(out: ByteSink): Unit = {
    out.putByte(RowBlock.Version)
    out.putCount(size.toLong)
    var before = 0L
    var row = 0
    while (row < size) {
      out.putNumber(times(row) - before) // may overflow; reading overflows back
      out.putCount(length(row).toLong)
      before = times(row)
      row += 1
    }
    out.align()
    val at = out.reserve(byteCount)
    System.arraycopy(content, starts(0), out.bytes, at, byteCount)
  }

  /** Reads a block; the rows stay in the array of `in`. */
  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "a block of rows", RowBlock.Version)
    size = in.getCount().toInt
    ensure(size)
    starts(0) = 0
    var before = 0L
    var row = 0
    while (row < size) {
      before += in.getNumber()
      times(row) = before
      starts(row + 1) = starts(row) + in.getCount().toInt
      row += 1
    }
    in.align()
    content = in.bytes
    val first = in.skip(starts(size))
    row = 0
    while (row <= size) {
      starts(row) += first
      row += 1
    }
  }
}

private object RowBlock {
  private val Version = 1
  private val Few = 8
}
