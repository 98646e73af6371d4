package io.eventtide.spark.latelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetPartitionReaderFactory
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

/** A partition of files; some files also have rows of other batches.
  *
  * @param after
  *   the last batch whose rows are skipped
  * @param until
  *   the last batch whose rows are returned
  */
private[latelog] final case class LateInputPartition(files: FilePartition, after: Long, until: Long)
    extends InputPartition

/** Reads files as Spark does. For a `LateInputPartition` it returns only the rows of the
  * partition's batches.
  *
  * @param parquet
  *   reads the column `_batch_id`, possibly only for this filter
  * @param wanted
  *   the columns of the returned rows
  */
private[latelog] final class LateReaderFactory(
    parquet: ParquetPartitionReaderFactory,
    wanted: StructType
) extends PartitionReaderFactory {
  private val column = parquet.readDataSchema.fieldNames.indexOf("_batch_id")

  override def supportColumnarReads(partition: InputPartition): Boolean = partition match {
    case _: LateInputPartition => false
    case files => parquet.supportColumnarReads(files)
  }

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    parquet.createColumnarReader(partition)

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case LateInputPartition(files, after, until) =>
        val rows = parquet.createReader(files)
        new BatchRowReader(rows, column, BatchRange(after + 1, until), projection)
      case files => parquet.createReader(files)
    }

  private def projection: InternalRow => InternalRow =
    if (wanted.length == parquet.readDataSchema.length) identity
    else UnsafeProjection.create(wanted) // the first columns
}

private final class BatchRowReader(
    rows: PartitionReader[InternalRow],
    column: Int,
    range: BatchRange,
    project: InternalRow => InternalRow
) extends PartitionReader[InternalRow] {

  @scala.annotation.tailrec
  override def next(): Boolean =
    if (!rows.next()) false
    else if (range.contains(rows.get().getLong(column))) true
    else next()

  override def get(): InternalRow = project(rows.get())

  override def close(): Unit = rows.close()
}
