package io.eventtide.baselines

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
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A stream of the numbers 0, 1, 2, ... as `value`: `readStream.format("numbers")`.
  *
  * Every micro-batch has the next `rowsPerBatch` of them, in `numPartitions` partitions, 2 unless
  * said otherwise. It gives columns, where Spark's `rate-micro-batch` makes an object for each row
  * and counts each by itself, so that what is measured above it is the engine.
  */
final class NumbersSource extends TableProvider with DataSourceRegister {
  override def shortName(): String = "numbers"

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = NumbersSource.Schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = new NumbersTable(Numbers(new CaseInsensitiveStringMap(properties)))
}

private object NumbersSource {

  val Schema: StructType = new StructType().add("value", LongType, nullable = false)
}

private final class NumbersTable(numbers: Numbers) extends Table with SupportsRead {
  override def name: String = "numbers"

  override def columns: Array[Column] = Array(Column.create("value", LongType, false))

  override def capabilities: java.util.Set[TableCapability] =
    EnumSet.of(TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    () => new NumbersScan(numbers)
}

private final class NumbersScan(numbers: Numbers) extends Scan {
  override def readSchema: StructType = NumbersSource.Schema

  override def columnarSupportMode: Scan.ColumnarSupportMode = Scan.ColumnarSupportMode.SUPPORTED

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    new NumbersStream(numbers)
}
