package io.eventtide.spark.source

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.types.{DoubleType, LongType, StructType, TimestampType}

import io.eventtide.spark.query.history.ClosedWindowRow

/** Closed windows as rows of a table. */
private[source] object ClosedWindowRows {
  private val Bounds = new StructType().add("start", TimestampType).add("end", TimestampType)

  val Schema: StructType = new StructType()
    .add("window", Bounds)
    .add("closed_at", TimestampType)
    .add("batch_id", LongType)
    .add("rows", LongType)
    .add("late", LongType)
    .add("expected_missing", DoubleType)

  /** One partition: the ledger has thousands of windows, not millions. */
  def partitions(rows: Seq[ClosedWindowRow]): Array[InputPartition] =
    if (rows.isEmpty) Array.empty else Array(ClosedWindowPartition(rows.toArray))

  val Reader: PartitionReaderFactory = ClosedWindowReaderFactory

  private[source] def toRow(row: ClosedWindowRow): InternalRow = {
    val of = row.window
    val missing = if (of.missing.isNaN) null else of.missing
    val bounds = new GenericInternalRow(Array[Any](of.start, of.end))
    new GenericInternalRow(
      Array[Any](bounds, of.closedAt, of.batchId, of.rows, row.late, missing)
    )
  }
}

private final case class ClosedWindowPartition(rows: Array[ClosedWindowRow]) extends InputPartition

private object ClosedWindowReaderFactory extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case ClosedWindowPartition(rows) => new ClosedWindowPartitionReader(rows)
      case other => throw new IllegalArgumentException(s"not a partition of this source: $other")
    }
}

private final class ClosedWindowPartitionReader(rows: Array[ClosedWindowRow])
    extends PartitionReader[InternalRow] {
  private val project = UnsafeProjection.create(ClosedWindowRows.Schema)
  private var at = -1

  override def next(): Boolean = {
    at += 1
    at < rows.length
  }

  override def get(): InternalRow = project(ClosedWindowRows.toRow(rows(at)))

  override def close(): Unit = ()
}
