package io.eventtide.spark.source

import java.util.{Map => JMap}

import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.eventtide.spark.spi.StreamTable

/** The source with which a policy's clock triggers batches. It has no rows; its offset counts
  * ticks.
  */
final class ClockSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = ClockSource.Schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = ClockSource.Clock
}

private[spark] object ClockSource {

  val Schema: StructType = new StructType().add("tick", LongType)

  private val Clock = new StreamTable("eventtide clock", Schema, () => ClockStream.open())
}
