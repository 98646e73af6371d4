package io.eventtide.spark.latelog

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.connector.read.streaming.{Offset, ReadLimit}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.execution.datasources.v2.parquet.{
  ParquetPartitionReaderFactory,
  ParquetScan
}
import org.apache.spark.sql.execution.streaming.runtime.LongOffset

import io.eventtide.spark.checkpoint.WriteConflict
import io.eventtide.spark.spi.NumberedStream

/** The late rows of a query as a stream, one or more of the query's batches per trigger. Its offset
  * is the last batch that was read; -1 for none.
  *
  * @param companion
  *   the query that reads it, if that is a companion
  */
private final class LateStream(
    log: LateLogReader,
    reading: LateReadOptions,
    companion: Option[StreamExecutionAccess],
    mark: Option[LateMark],
    scan: Seq[FileStatus] => ParquetScan
) extends NumberedStream {

  private val query = reading.query.map(new QueryCommits(_))
  private var known = Option.empty[Long]
  private var hasBegun = false
  private var isChecked = false
  private var end = Option.empty[Option[Long]] // set for an available-now run

  override def prepareForTriggerAvailableNow(): Unit = end = Some(lastLate())

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    val read = numberOf(start)
    if (!hasBegun) refuseSetBack(read)
    mark.foreach(_.begin(read))
    val last = if (isPaused) Some(read) else end.getOrElse(newest())
    last.map(last => LongOffset(next(read, math.max(last, read)))).orNull
  }

  // A companion's own checkpoint is in that of its query, so both are set back together.
  private def refuseSetBack(read: Long): Unit = {
    if (companion.isEmpty) log.refuseSetBack(read)
    hasBegun = true
  }

  private def isPaused = reading.companion.exists(LateCompanion.isPaused)

  // Spark polls the offset about a hundred times a second, and the log is in a file system.
  private def newest(): Option[Long] = {
    if (query.forall(_.hasNew())) known = lastLate()
    known
  }

  // Checked once: a missing end of the log could otherwise only be detected by a later entry.
  private def lastLate(): Option[Long] = {
    if (!isChecked && !reading.skipsMissing) log.refuseUnbalanced()
    isChecked = true
    if (reading.everyBatch) log.lastCommitted else log.lastLate
  }

  private def next(read: Long, last: Long): Long =
    if (last == read) read else reading.most.fold(last)(log.upTo(read, last, _))

  override def initialOffset: Offset = LongOffset(-1L)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
    val (after, until) = (numberOf(start), numberOf(end))
    refuseForgotten(after)
    val files = log.files(after, until, LateSelection.All, reading.skipsMissing)
    refuseForgotten(after) // again, in case they were forgotten while the files were listed
    val read = log.forgottenIn(files).fold(after)(math.max(after, _))
    val range = BatchRange(read + 1, until)
    val hasOthers = files.flatMap(file => LateFileInfo.batches(file.getPath.getName)).exists {
      !_.isWithin(range)
    }
    scan(files).planInputPartitions().map {
      case of: FilePartition if hasOthers => LateInputPartition(of, read, until)
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

  override def commit(end: Offset): Unit = mark.foreach(_.reached(numberOf(end)))

  override def stop(): Unit = companion.foreach(WriteConflict.name)

  override def toString: String = log.name
}
