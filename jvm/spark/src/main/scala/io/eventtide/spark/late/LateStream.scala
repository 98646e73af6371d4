package io.eventtide.spark.late

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.connector.read.streaming.{
  MicroBatchStream,
  Offset,
  ReadLimit,
  SupportsTriggerAvailableNow
}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetScan

/** The last batch that was read, or -1. */
private final case class LateOffset(batchId: Long) extends Offset {
  override def json: String = batchId.toString
}

/** The late rows of a query as they come, one or more of its batches at a time. */
private final class LateStream(log: LateLogReader, scan: Seq[FileStatus] => ParquetScan)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow {

  private var end = Option.empty[Option[Long]] // of a run that reads what there is and ends

  override def prepareForTriggerAvailableNow(): Unit = end = Some(log.lastLate)

  override def latestOffset(start: Offset, limit: ReadLimit): Offset =
    end.getOrElse(log.lastLate).map(last => LateOffset(math.max(last, batchOf(start)))).orNull

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is used")

  override def initialOffset: Offset = LateOffset(-1)

  override def deserializeOffset(json: String): Offset = LateOffset(json.toLong)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    scan(log.files(batchOf(start), batchOf(end))).planInputPartitions()

  override def createReaderFactory(): PartitionReaderFactory = scan(Nil).createReaderFactory()

  override def commit(end: Offset): Unit = ()

  override def stop(): Unit = ()

  override def toString: String = log.name

  private def batchOf(offset: Offset): Long = offset.asInstanceOf[LateOffset].batchId
}
