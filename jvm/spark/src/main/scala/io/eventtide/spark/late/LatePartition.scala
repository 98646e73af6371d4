package io.eventtide.spark.late

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetPartitionReaderFactory
import org.apache.spark.sql.vectorized.ColumnarBatch

/** Files some of which have rows of other batches too.
  *
  * @param after
  *   the last batch whose rows do not count
  * @param until
  *   the last one whose rows do
  */
private[late] final case class LatePartition(files: FilePartition, after: Long, until: Long)
    extends InputPartition

/** Reads files as Spark does, of a `LatePartition` only the rows of its batches. */
private[late] final class LateReaderFactory(parquet: ParquetPartitionReaderFactory)
    extends PartitionReaderFactory {
  // A stream has all columns: Spark takes none away from one.
  private val column = parquet.readDataSchema.fieldNames.indexOf("_batch_id")

  override def supportColumnarReads(partition: InputPartition): Boolean = partition match {
    case _: LatePartition => false
    case files => parquet.supportColumnarReads(files)
  }

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    parquet.createColumnarReader(partition)

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case LatePartition(files, after, until) =>
        new RowsOfBatches(parquet.createReader(files), column, BatchRange(after + 1, until))
      case files => parquet.createReader(files)
    }
}

private final class RowsOfBatches(
    rows: PartitionReader[InternalRow],
    column: Int,
    range: BatchRange
) extends PartitionReader[InternalRow] {

  @scala.annotation.tailrec
  override def next(): Boolean =
    if (!rows.next()) false
    else if (range.contains(rows.get().getLong(column))) true
    else next()

  override def get(): InternalRow = rows.get()

  override def close(): Unit = rows.close()
}
