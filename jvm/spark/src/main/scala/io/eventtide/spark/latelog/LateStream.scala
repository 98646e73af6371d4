package io.eventtide.spark.latelog

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.connector.read.streaming.{
  MicroBatchStream,
  Offset,
  ReadLimit,
  SupportsTriggerAvailableNow
}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.execution.datasources.v2.parquet.{
  ParquetPartitionReaderFactory,
  ParquetScan
}

/** The last batch that was read; -1 for none. */
private final case class LateOffset(batchId: Long) extends Offset {
  override def json: String = batchId.toString
}

/** The late rows of a query as a stream, one or more of the query's batches per trigger. */
private final class LateStream(
    log: LateLogReader,
    reading: LateReadOptions,
    mark: Option[LateMark],
    scan: Seq[FileStatus] => ParquetScan
) extends MicroBatchStream
    with SupportsTriggerAvailableNow {

  private val query = reading.query.map(new QueryCommits(_))
  private var known = Option.empty[Long]
  private var isChecked = false
  private var end = Option.empty[Option[Long]] // set for an available-now run

  override def prepareForTriggerAvailableNow(): Unit = end = Some(lastLate())

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    val read = batchOf(start)
    mark.foreach(_.begin(read))
    end.getOrElse(newest()).map(last => LateOffset(next(read, math.max(last, read)))).orNull
  }

  // Spark polls the offset about a hundred times a second, and the log is in a file system.
  private def newest(): Option[Long] = {
    if (query.forall(_.hasNew())) known = lastLate()
    known
  }

  // Checked once: a missing end of the log could otherwise only be detected by a later entry.
  private def lastLate(): Option[Long] = {
    if (!isChecked && !reading.skipsMissing) log.refuseUnbalanced()
    isChecked = true
    log.lastLate
  }

  private def next(read: Long, last: Long): Long =
    if (last == read) read else reading.most.fold(last)(log.upTo(read, last, _))

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is used")

  override def initialOffset: Offset = LateOffset(-1)

  override def deserializeOffset(json: String): Offset = LateOffset(json.toLong)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
    val (after, until) = (batchOf(start), batchOf(end))
    refuseForgotten(after)
    val files = log.files(after, until, reading.skipsMissing)
    refuseForgotten(after) // again, in case they were forgotten while the files were listed
    val read = log.forgottenIn(files).fold(after)(math.max(after, _))
    val range = BatchRange(read + 1, until)
    val hasOthers = files.flatMap(file => LateFileName.batches(file.getPath.getName)).exists {
      !_.isWithin(range)
    }
    scan(files).planInputPartitions().map {
      case of: FilePartition if hasOthers => LatePartition(of, read, until)
      case of => of
    }
  }

  private def refuseForgotten(after: Long): Unit =
    if (!reading.skipsMissing) log.refuseForgotten(after)

  override def createReaderFactory(): PartitionReaderFactory =
    scan(Nil).createReaderFactory() match {
      case parquet: ParquetPartitionReaderFactory =>
        new LateReaderFactory(parquet, parquet.readDataSchema)
      case other => other
    }

  override def commit(end: Offset): Unit = mark.foreach(_.reached(batchOf(end)))

  override def stop(): Unit = ()

  override def toString: String = log.name

  private def batchOf(offset: Offset): Long = offset.asInstanceOf[LateOffset].batchId
}
