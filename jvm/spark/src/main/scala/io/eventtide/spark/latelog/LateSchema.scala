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

/** The columns of a late log: those of the row, then those that say why it is there. */
private[spark] object LateSchema {

  /** The first of them come with the row, and the batch says the others. */
  val Added: StructType = new StructType()
    .add("_substream", StringType)
    .add("_key", StringType)
    .add("_event_time", TimestampType)
    .add("_watermark", TimestampType)
    .add("_late_by", DayTimeIntervalType())
    .add("_reason", StringType)
    .add("_windows_missed", IntegerType)
    .add("_batch_id", LongType)

  /** The whole schema, or a refusal of what the log cannot hold. */
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

  // Names that differ in case only are the same to Spark, unless it is told otherwise.
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

  // Parquet has no two fields of one name, and a reader tells those that differ by case not apart.
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

  // Whoever reads the log as a stream must not take the mark of this query's watermark for one.
  private def untagged(field: StructField): StructField = {
    val metadata =
      new MetadataBuilder().withMetadata(field.metadata).remove(EventTimeWatermark.delayKey).build()
    field.copy(metadata = metadata)
  }
}
