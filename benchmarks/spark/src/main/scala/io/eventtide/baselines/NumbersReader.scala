package io.eventtide.baselines

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.types.{Decimal, LongType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarBatch, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

private object NumbersReaders extends PartitionReaderFactory {
  override def supportColumnarReads(partition: InputPartition): Boolean = true

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    new NumbersReader(partition.asInstanceOf[NumbersPartition])

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    throw new UnsupportedOperationException("numbers are read as columns")
}

/** Gives each block as a batch of columns, which is the same object every time. */
private final class NumbersReader(partition: NumbersPartition)
    extends PartitionReader[ColumnarBatch] {

  private val column = new CountingColumn
  private val batch = new ColumnarBatch(Array[ColumnVector](column))
  private var first = partition.first - partition.step

  override def next(): Boolean = {
    first += partition.step
    first < partition.end
  }

  override def get(): ColumnarBatch = {
    column.first = first
    batch.setNumRows(math.min(Numbers.Block.toLong, partition.end - first).toInt)
    batch
  }

  override def close(): Unit = ()
}

/** A column that counts up by one from `first`, without memory for what it holds. */
private final class CountingColumn extends ColumnVector(LongType) {
  var first = 0L

  override def getLong(row: Int): Long = first + row

  override def hasNull: Boolean = false
  override def numNulls: Int = 0
  override def isNullAt(row: Int): Boolean = false
  override def close(): Unit = ()

  override def getBoolean(row: Int): Boolean = isLong()
  override def getByte(row: Int): Byte = isLong()
  override def getShort(row: Int): Short = isLong()
  override def getInt(row: Int): Int = isLong()
  override def getFloat(row: Int): Float = isLong()
  override def getDouble(row: Int): Double = isLong()
  override def getArray(row: Int): ColumnarArray = isLong()
  override def getMap(row: Int): ColumnarMap = isLong()
  override def getDecimal(row: Int, precision: Int, scale: Int): Decimal = isLong()
  override def getUTF8String(row: Int): UTF8String = isLong()
  override def getBinary(row: Int): Array[Byte] = isLong()
  override def getChild(ordinal: Int): ColumnVector = isLong()

  private def isLong(): Nothing =
    throw new UnsupportedOperationException("a column of numbers is a BIGINT")
}
