package io.eventtide.spark.operators.preagg

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

import io.eventtide.kernel.window.ByteSink

/** Collects rows, and then has the rows of each key next to each other, in the order in which they
  * were added. A key has a number, from 0 on, in the order of their first rows.
  */
private[preagg] final class RowPacker {
  import RowPacker._

  private val rows = new ByteSink(1 << 16) // each row after its length
  private val keys = new ByteSink(1 << 12)
  private var keyAt = new Array[Int](1 << 10) // of each key, and the end of the last one
  private var sizes = new Array[Int](1 << 10) // the bytes of each key's rows
  private var ends = new Array[Int](1 << 10) // of each key's rows, in `packs`
  private var table = new Array[Int](1 << 11) // a key's number and one; 0 for none
  private var keyOf = new Array[Int](1 << 12) // of each row
  private var packs = Array.emptyByteArray
  private var keyCount = 0
  private var rowCount = 0

  def numRows: Int = rowCount
  def numKeys: Int = keyCount

  /** The bytes of all rows. */
  def length: Int = rows.position

  def clear(): Unit = {
    rows.reset(0)
    keys.reset(0)
    Arrays.fill(table, 0)
    keyCount = 0
    rowCount = 0
  }

  def add(key: UnsafeRow, row: UnsafeRow): Unit = {
    val number = numberOf(key)
    val length = Header + row.getSizeInBytes
    val at = rows.reserve(length)
    Platform.putLong(rows.bytes, offset(at), row.getSizeInBytes.toLong)
    row.writeToMemory(rows.bytes, offset(at + Header))
    if (rowCount == keyOf.length) keyOf = Arrays.copyOf(keyOf, rowCount * 2)
    keyOf(rowCount) = number
    sizes(number) += length
    rowCount += 1
  }

  private def numberOf(key: UnsafeRow): Int = {
    var i = slot(key.hashCode)
    while (table(i) != 0 && !isAt(table(i) - 1, key)) i = (i + 1) & (table.length - 1)
    if (table(i) != 0) table(i) - 1 else insert(key, i)
  }

  private def slot(hash: Int): Int = (hash ^ (hash >>> 15)) & (table.length - 1)

  private def isAt(number: Int, key: UnsafeRow): Boolean = {
    val length = key.getSizeInBytes
    keyAt(number + 1) - keyAt(number) == length && ByteArrayMethods.arrayEquals(
      key.getBaseObject,
      key.getBaseOffset,
      keys.bytes,
      offset(keyAt(number)),
      length.toLong
    )
  }

  private def insert(key: UnsafeRow, i: Int): Int = {
    val number = keyCount
    if (number + 1 == keyAt.length) grow()
    keyAt(number) = keys.reserve(key.getSizeInBytes)
    key.writeToMemory(keys.bytes, offset(keyAt(number)))
    keyAt(number + 1) = keys.position
    sizes(number) = 0
    keyCount += 1
    table(i) = keyCount
    if (keyCount * 2 > table.length) rehash()
    number
  }

  private def grow(): Unit = {
    keyAt = Arrays.copyOf(keyAt, keyAt.length * 2)
    sizes = Arrays.copyOf(sizes, keyAt.length)
    ends = new Array[Int](keyAt.length)
  }

  private def rehash(): Unit = {
    table = new Array[Int](table.length * 2)
    val key = new UnsafeRow(0)
    for (number <- 0 until keyCount) {
      key.pointTo(keys.bytes, offset(keyAt(number)), keyAt(number + 1) - keyAt(number))
      var i = slot(key.hashCode)
      while (table(i) != 0) i = (i + 1) & (table.length - 1)
      table(i) = number + 1
    }
  }

  /** Brings the rows of each key together. */
  def pack(): Unit = {
    if (packs.length < rows.position) packs = new Array[Byte](rows.position)
    var at = 0
    for (number <- 0 until keyCount) {
      ends(number) = at
      at += sizes(number)
    }
    var from = 0
    for (i <- 0 until rowCount) {
      val length = Header + Platform.getLong(rows.bytes, offset(from)).toInt
      val number = keyOf(i)
      System.arraycopy(rows.bytes, from, packs, ends(number), length)
      ends(number) += length
      from += length
    }
  }

  /** The rows of a key. */
  def packOf(number: Int): Array[Byte] =
    Arrays.copyOfRange(packs, ends(number) - sizes(number), ends(number))
}

private[preagg] object RowPacker {
  private val Header = 8

  private def offset(at: Int): Long = Platform.BYTE_ARRAY_OFFSET.toLong + at

  /** The first row of a pack, in place. */
  def firstOf(pack: Array[Byte], row: UnsafeRow): UnsafeRow = {
    row.pointTo(pack, offset(Header), Platform.getLong(pack, offset(0)).toInt)
    row
  }

  /** Reads the rows in a column, in place.
    *
    * @param column
    *   the ordinal of the packs
    * @param columns
    *   the number of columns of a packed row
    */
  final class Reader(column: Int, columns: Int, keyCount: Int) extends PackedReader(column) {
    private val row = new UnsafeRow(columns)

    override def begin(packed: InternalRow): Unit = {
      super.begin(packed)
      point()
    }

    override def next(): Boolean = {
      val more = super.next()
      if (more) point()
      more
    }

    private def point(): Unit =
      row.pointTo(bytes, at + Header, Platform.getLong(bytes, at).toInt)

    protected def entryBytes: Int = Header + row.getSizeInBytes

    def frame: Long = row.getLong(keyCount)
    def buffer: UnsafeRow = row
  }
}
