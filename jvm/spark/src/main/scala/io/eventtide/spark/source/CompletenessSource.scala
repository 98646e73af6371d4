package io.eventtide.spark.source

import java.util.{EnumSet, Map => JMap}

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{
  Column,
  SupportsRead,
  Table,
  TableCapability,
  TableProvider
}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.{
  Batch,
  InputPartition,
  PartitionReaderFactory,
  Scan,
  ScanBuilder
}
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.eventtide.spark.checkpoint.CheckpointPath
import io.eventtide.spark.options.OptionReader
import io.eventtide.spark.query.history.ClosedWindowReader

/** The closed windows of a query as a table and as a stream:
  * `format("eventtide-completeness").option("checkpoint", path)`. If a query has several windows, add
  * `option("window", position)`.
  *
  *   - '''Guarantee:''' has the windows that committed batches have closed, each once. This also holds
  *     while the query runs.
  *   - '''Edges:''' the checkpoint keeps as many windows as the session of the query says.
  *   - '''Restart:''' a stream continues after the last batch of the query that it has read.
  */
final class CompletenessSource extends TableProvider with DataSourceRegister {
  override def shortName(): String = CompletenessSource.Name

  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    ClosedWindowRows.Schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = CompletenessSource.table(new CaseInsensitiveStringMap(properties))
}

private[spark] object CompletenessSource {
  val Name = "eventtide-completeness"

  private def table(options: CaseInsensitiveStringMap): Table = {
    val checkpoint = Option(options.get("checkpoint")).getOrElse {
      OptionReader.missing("checkpoint", "the checkpoint location of the query with the windows")
    }
    val named = Option(options.get("window")).map("window" -> _).toMap
    val window = new OptionReader(named).count("window", 0).getOrElse(0)
    val conf = SparkSession.active.sessionState.newHadoopConf()
    val root = CheckpointPath.root(checkpoint, conf)
    val windows = new ClosedWindowReader(root, window, conf)
    windows.check()
    new CompletenessTable(windows)
  }
}

private final class CompletenessTable(windows: ClosedWindowReader) extends Table with SupportsRead {
  override def name: String = s"closed windows of ${windows.root}"

  override def columns: Array[Column] = ClosedWindowRows.Schema.fields.map { field =>
    Column.create(field.name, field.dataType, field.nullable)
  }

  override def capabilities: java.util.Set[TableCapability] =
    EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
    new CompletenessScan(name, windows)
}

private final class CompletenessScan(name: String, windows: ClosedWindowReader) extends Scan {
  override def readSchema: StructType = ClosedWindowRows.Schema
  override def description: String = name

  override def toBatch: Batch = new Batch {
    override def planInputPartitions(): Array[InputPartition] = {
      val committed = windows.lastCommitted
      committed.fold(Array.empty[InputPartition]) { until =>
        ClosedWindowRows.partitions(windows.read(until).rows)
      }
    }

    override def createReaderFactory(): PartitionReaderFactory = ClosedWindowRows.Reader
  }

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    new CompletenessStream(name, windows)
}
