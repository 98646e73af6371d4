package io.eventtide.spark.latelog

import scala.util.Try

import org.apache.parquet.schema.TypeUtil
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.datasources.parquet.SparkToParquetSchemaConverter
import org.apache.spark.sql.types.{
  ArrayType,
  DataType,
  DayTimeIntervalType,
  IntegerType,
  LongType,
  MapType,
  MetadataBuilder,
  StringType,
  StructField,
  StructType,
  TimestampType
}

import io.eventtide.spark.EventtideException

/** The schema of a late log: the columns of the row, then the added columns on why it is late. */
private[spark] object LateSchema {

  /** The added columns. The first two are part of the row, the batch provides the others. */
  val Added: StructType = new StructType()
    .add("_substream", StringType)
    .add("_key", StringType)
    .add("_event_time", TimestampType)
    .add("_watermark", TimestampType)
    .add("_late_by", DayTimeIntervalType())
    .add("_reason", StringType)
    .add("_windows_missed", IntegerType)
    .add("_batch_id", LongType)

  /** The complete schema; fails for columns that the log cannot store. */
  def of(row: StructType): StructType = {
    refuseNames(row)
    row.foreach(column => refuseFields(column.name, column.dataType))
    row.fields.find(!isStorable(_)).foreach { field =>
      throw EventtideException(
        "LATE_COLUMN_TYPE",
        "column" -> field.name,
        "type" -> field.dataType.catalogString
      )
    }
    withAdded(StructType(row.map(untagged)).toNullable)
  }

  def withAdded(row: StructType): StructType = StructType(row.fields ++ Added.fields)

  /** Whether a schema ends with the added columns. */
  def isOfLog(schema: StructType): Boolean = {
    def columns(of: Seq[StructField]) = of.map(field => field.name -> field.dataType)
    columns(schema.takeRight(Added.length)) == columns(Added)
  }

  // Spark treats names that differ only in case as equal, unless configured otherwise.
  private def refuseNames(row: StructType): Unit = {
    val names = row.fieldNames ++ Added.fieldNames
    names.find(name => names.count(_.equalsIgnoreCase(name)) > 1).foreach { name =>
      throw EventtideException(
        "LATE_COLUMN_NAME",
        "column" -> name,
        "added" -> Added.fieldNames.mkString(", ")
      )
    }
  }

  // Parquet does not allow two fields of one name, and a reader does not distinguish names by case.
  private def refuseFields(path: String, kind: DataType): Unit = kind match {
    case struct: StructType =>
      val names = struct.fieldNames
      names.find(name => names.count(_.equalsIgnoreCase(name)) > 1).foreach { name =>
        throw EventtideException("LATE_FIELD_NAME", "column" -> path, "field" -> name)
      }
      struct.foreach(field => refuseFields(s"$path.${field.name}", field.dataType))
    case ArrayType(element, _) => refuseFields(s"$path.element", element)
    case MapType(key, value, _) =>
      refuseFields(s"$path.key", key)
      refuseFields(s"$path.value", value)
    case _ => ()
  }

  private def isStorable(field: StructField): Boolean =
    Try(new SparkToParquetSchemaConverter().convert(StructType(Seq(field))))
      .map(TypeUtil.checkValidWriteSchema)
      .isSuccess

  // A stream over the log must not mistake the event-time tag of this query's watermark for a
  // watermark on its own rows.
  private def untagged(field: StructField): StructField = {
    val metadata =
      new MetadataBuilder().withMetadata(field.metadata).remove(EventTimeWatermark.delayKey).build()
    field.copy(metadata = metadata)
  }
}
