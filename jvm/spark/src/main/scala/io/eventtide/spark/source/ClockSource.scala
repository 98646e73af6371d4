package io.eventtide.spark.source

import java.util.{EnumSet, Map => JMap}

import org.apache.spark.sql.connector.catalog.{
  Column,
  SupportsRead,
  Table,
  TableCapability,
  TableProvider
}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder}
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The source with which a policy's clock triggers batches. It has no rows; its offset counts
  * ticks.
  */
final class ClockSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = ClockSource.Schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = ClockTable
}

private[spark] object ClockSource {

  val Schema: StructType = new StructType().add("tick", LongType)
}

private object ClockTable extends Table with SupportsRead {
  override def name: String = "eventtide clock"

  override def columns: Array[Column] = Array(Column.create("tick", LongType))

  override def capabilities: java.util.Set[TableCapability] =
    EnumSet.of(TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    () => ClockScan
}

private object ClockScan extends Scan {
  override def readSchema: StructType = ClockSource.Schema

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    ClockStream.open()
}
