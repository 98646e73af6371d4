package io.eventtide.spark.spi

import java.util.EnumSet

import org.apache.spark.sql.connector.catalog.{Column, SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A table that is read only as a stream, with all its columns.
  *
  * @param open
  *   opens the stream, on the thread of the query that starts
  */
private[spark] final class StreamTable(
    override val name: String,
    rows: StructType,
    open: () => MicroBatchStream
) extends Table
    with SupportsRead {

  override def columns: Array[Column] =
    rows.fields.map(field => Column.create(field.name, field.dataType, field.nullable))

  override def capabilities: java.util.Set[TableCapability] =
    EnumSet.of(TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () => scan

  private def scan: Scan = new Scan {
    override def readSchema: StructType = rows
    override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = open()
  }
}
