package io.eventtide.spark.latelog

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
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.eventtide.spark.options.OptionReader

/** A late log as a table and as a stream: `format("eventtide-late").option("checkpoint", path)`. If
  * a query has several windows, add `option("window", position)`. A stream reads all new batches of
  * the query per trigger, or at most `n` with `option("maxBatchesPerTrigger", n)`.
  *
  *   - '''Guarantee:''' returns only rows of committed batches, each exactly once. This also holds
  *     while the query runs, and after Spark has purged its logs.
  *   - '''Edges:''' an empty log already has its columns.
  *   - '''Restart:''' a stream continues after the last batch that it has read.
  */
final class LateSource extends TableProvider with DataSourceRegister {
  override def shortName(): String = LateSource.Name

  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    LateSource.open(options).schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = {
    val options = new CaseInsensitiveStringMap(properties)
    new LateTable(LateSource.open(options), LateReadOptions(options))
  }
}

private[spark] object LateSource {
  val Name = "eventtide-late"

  private def open(options: CaseInsensitiveStringMap): LateLogReader = {
    val checkpoint = Option(options.get("checkpoint")).getOrElse {
      OptionReader.missing(
        "checkpoint",
        "the checkpoint location of the query with the late rows"
      )
    }
    val conf = SparkSession.active.sessionState.newHadoopConf()
    LateLogReader.open(checkpoint, Option(options.get("window")), conf)
  }
}

private final class LateTable(log: LateLogReader, reading: LateReadOptions)
    extends Table
    with SupportsRead {
  override def name: String = log.name

  override def columns: Array[Column] =
    log.schema.fields.map { field =>
      Column.create(field.name, field.dataType, field.nullable, null, field.metadata.json)
    }

  override def capabilities: java.util.Set[TableCapability] =
    EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    new LateScanBuilder(SparkSession.active, log, reading)
}
