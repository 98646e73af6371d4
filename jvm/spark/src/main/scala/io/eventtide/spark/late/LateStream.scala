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
private final class LateStream(
    log: LateLogReader,
    reading: LateReading,
    scan: Seq[FileStatus] => ParquetScan
) extends MicroBatchStream
    with SupportsTriggerAvailableNow {

  private val query = reading.query.map(new QueryCommits(_))
  private var known = Option.empty[Long]
  private var end = Option.empty[Option[Long]] // of a run that reads what there is and ends

  override def prepareForTriggerAvailableNow(): Unit = end = Some(log.lastLate)

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    val read = batchOf(start)
    end.getOrElse(newest()).map(last => LateOffset(next(read, math.max(last, read)))).orNull
  }

  // Spark asks a hundred times a second, and the log is in a file system.
  private def newest(): Option[Long] = {
    if (query.forall(_.hasNew())) known = log.lastLate
    known
  }

  private def next(read: Long, last: Long): Long =
    if (last == read) read else reading.most.fold(last)(log.upTo(read, last, _))

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
