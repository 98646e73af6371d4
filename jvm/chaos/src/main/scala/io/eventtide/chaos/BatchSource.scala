package io.eventtide.chaos

import java.nio.file.{Files, Paths}
import java.util.{EnumSet, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{
  Column,
  SupportsRead,
  Table,
  TableCapability,
  TableProvider
}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.streaming.{
  MicroBatchStream,
  Offset,
  ReadLimit,
  SupportsTriggerAvailableNow
}
import org.apache.spark.sql.connector.read.{
  InputPartition,
  PartitionReader,
  PartitionReaderFactory,
  Scan,
  ScanBuilder
}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

/** A stream whose micro-batches are always the same: `format("io.eventtide.chaos.BatchSource")` with
  * the option `file`. Each line is a row, the column `value`; an empty line ends a batch. A new query
  * begins with the batch `first`, by default 0.
  */
final class BatchSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = BatchSource.Schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table =
    new BatchTable(properties.get("file"), properties.getOrDefault("first", "0").toInt)
}

private object BatchSource {
  val Schema: StructType = new StructType().add("value", StringType)
  val Partitions = 2

  def read(file: String): IndexedSeq[Seq[String]] = {
    val lines = Files.readAllLines(Paths.get(file)).asScala
    lines.foldLeft(Vector(Vector.empty[String])) { (batches, line) =>
      if (line.isEmpty) batches :+ Vector.empty else batches.init :+ (batches.last :+ line)
    }
  }
}

private final class BatchTable(file: String, first: Int) extends Table with SupportsRead {
  override def name: String = file
  override def columns: Array[Column] = Array(Column.create("value", StringType))
  override def capabilities: java.util.Set[TableCapability] =
    EnumSet.of(TableCapability.MICRO_BATCH_READ)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    () => new BatchScan(file, first)
}

private final class BatchScan(file: String, first: Int) extends Scan {
  override def readSchema: StructType = BatchSource.Schema
  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    new BatchStream(BatchSource.read(file), first)
}

private final case class BatchOffset(batches: Int) extends Offset {
  override def json: String = batches.toString
}

private final class BatchStream(batches: IndexedSeq[Seq[String]], first: Int)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow {

  override def prepareForTriggerAvailableNow(): Unit = ()

  override def latestOffset(start: Offset, limit: ReadLimit): Offset =
    BatchOffset(math.min(start.asInstanceOf[BatchOffset].batches + 1, batches.length))

  override def reportLatestOffset(): Offset = BatchOffset(batches.length)
  override def latestOffset(): Offset = throw new UnsupportedOperationException("without a start")
  override def initialOffset: Offset = BatchOffset(first)
  override def deserializeOffset(json: String): Offset = BatchOffset(json.toInt)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
    val (from, until) = (start.asInstanceOf[BatchOffset], end.asInstanceOf[BatchOffset])
    val rows = batches.slice(from.batches, until.batches).flatten
    Array.tabulate(BatchSource.Partitions) { n =>
      BatchPartition(rows.indices.collect { case i if i % BatchSource.Partitions == n => rows(i) })
    }
  }

  override def createReaderFactory(): PartitionReaderFactory = BatchReaders
  override def commit(end: Offset): Unit = ()
  override def stop(): Unit = ()
}

private final case class BatchPartition(rows: Seq[String]) extends InputPartition

private object BatchReaders extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new PartitionReader[InternalRow] {
      private val rows = partition.asInstanceOf[BatchPartition].rows.iterator
      private var row = ""

      override def next(): Boolean = {
        val more = rows.hasNext
        if (more) row = rows.next()
        more
      }
      override def get(): InternalRow = InternalRow(UTF8String.fromString(row))
      override def close(): Unit = ()
    }
}
