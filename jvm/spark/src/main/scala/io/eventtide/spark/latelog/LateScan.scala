package io.eventtide.spark.latelog

import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.{
  Batch,
  InputPartition,
  PartitionReaderFactory,
  Scan,
  Statistics,
  SupportsPushDownRequiredColumns,
  SupportsReportStatistics
}
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.execution.datasources.v2.parquet.{
  ParquetPartitionReaderFactory,
  ParquetScan,
  ParquetScanBuilder
}
import org.apache.spark.sql.execution.datasources.{
  FilePartition,
  PartitionSpec,
  PartitioningAwareFileIndex
}
import org.apache.spark.sql.internal.connector.SupportsPushDownCatalystFilters
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Reads a late log with Spark's Parquet reader. Columns and filters are pushed down to the reader,
  * and filters also to the index.
  */
private final class LateScanBuilder(
    session: SparkSession,
    log: LateLogReader,
    reading: LateReadOptions
) extends SupportsPushDownRequiredColumns
    with SupportsPushDownCatalystFilters {

  private var selection = LateSelection.All
  private val parquet = new ParquetScanBuilder(
    session,
    new LateFileIndex(session, log.files(selection, reading.skipsMissing)),
    log.schema,
    log.schema,
    CaseInsensitiveStringMap.empty
  )

  override def pruneColumns(required: StructType): Unit = parquet.pruneColumns(required)

  override def pushFilters(filters: Seq[Expression]): Seq[Expression] = {
    selection = new LateSelection(filters)
    parquet.pushFilters(filters)
  }

  override def pushedFilters: Array[Predicate] = parquet.pushedFilters

  override def build(): Scan = new LateScan(parquet.build(), session, log, reading)
}

private final class LateScan(
    parquet: ParquetScan,
    session: SparkSession,
    log: LateLogReader,
    reading: LateReadOptions
) extends Scan
    with SupportsReportStatistics {

  override def readSchema: StructType = parquet.readSchema()

  override def description: String = s"${log.name}: ${parquet.description()}"

  override def estimateStatistics: Statistics = parquet.estimateStatistics()

  override def toBatch: Batch = LateBatch(parquet, log)

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = {
    val run = StreamExecutionAccess.current(session)
    val companion = run.filter(_ => reading.companion.isDefined)
    for (place <- reading.companion; query <- companion)
      LateCompanion.opened(place, reading.run, query)
    new LateStream(
      log,
      reading,
      companion,
      run.map(log.mark(_, checkpointLocation)),
      files => parquet.copy(fileIndex = new LateFileIndex(session, files))
    )
  }
}

/** A batch read of the files of a log. If a file has rows of forgotten batches, `_batch_id` is read
  * too and these rows are skipped.
  */
private final case class LateBatch(parquet: ParquetScan, log: LateLogReader) extends Batch {
  private lazy val forgotten = log.forgottenIn(parquet.fileIndex.allFiles())
  private lazy val scan = if (forgotten.isEmpty) parquet else withBatchId

  private def withBatchId: ParquetScan = {
    val (read, column) = (parquet.readDataSchema, log.schema("_batch_id"))
    val hasColumn = read.fieldNames.contains(column.name)
    if (hasColumn) parquet else parquet.copy(readDataSchema = read.add(column))
  }

  override def planInputPartitions(): Array[InputPartition] = {
    val planned = scan.planInputPartitions()
    forgotten.fold(planned)(batch => planned.map(after(batch, _)))
  }

  private def after(batch: Long, planned: InputPartition): InputPartition = planned match {
    case files: FilePartition => LateInputPartition(files, batch, until = Long.MaxValue)
    case other => other
  }

  override def createReaderFactory(): PartitionReaderFactory = scan.createReaderFactory() match {
    case files: ParquetPartitionReaderFactory =>
      new LateReaderFactory(files, parquet.readDataSchema)
    case other => other
  }
}

/** A file index over known files. It lists no folder, and derives no partition columns from folder
  * names.
  *
  * @param found
  *   the files, evaluated on first use; a stream never evaluates them
  */
private final class LateFileIndex(session: SparkSession, found: => Seq[FileStatus])
    extends PartitioningAwareFileIndex(session, Map("recursiveFileLookup" -> "true"), None) {

  override protected lazy val leafFiles: mutable.LinkedHashMap[Path, FileStatus] =
    mutable.LinkedHashMap.from(found.map(file => file.getPath -> file))

  override protected def leafDirToChildrenFiles: Map[Path, Array[FileStatus]] = Map.empty

  override def partitionSpec(): PartitionSpec = PartitionSpec.emptySpec

  override def rootPaths: Seq[Path] = leafFiles.keys.toSeq

  override def refresh(): Unit = ()
}
