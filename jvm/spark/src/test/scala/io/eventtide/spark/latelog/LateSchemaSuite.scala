package io.eventtide.spark.latelog

import org.apache.spark.sql.types.{
  ArrayType,
  CalendarIntervalType,
  DataType,
  IntegerType,
  MapType,
  Metadata,
  MetadataBuilder,
  NullType,
  StructType
}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.EventtideException

class LateSchemaSuite extends AnyFunSuite {

  private def refusal(row: StructType): EventtideException =
    intercept[EventtideException](LateSchema.of(row))

  test("the log's columns come after the row's, all nullable") {
    val schema =
      LateSchema.of(StructType.fromDDL("a int not null, b array<struct<c int>> not null"))
    assert(schema.fieldNames.toSeq == Seq("a", "b") ++ LateSchema.Added.fieldNames)
    assert(schema.forall(_.nullable))
    assert(schema("b").dataType.asInstanceOf[ArrayType].containsNull)
  }

  test("the mark of an event time is not part of it, other metadata is") {
    val tag = new MetadataBuilder().putLong("spark.watermarkDelayMs", 0).putLong("own", 1).build()
    val row = new StructType().add("ts", IntegerType, nullable = true, tag)
    val own: Metadata = new MetadataBuilder().putLong("own", 1).build()
    assert(LateSchema.of(row)("ts").metadata == own)
  }

  test("a column with a name of the log's, in any case, is refused by name") {
    val error = refusal(StructType.fromDDL("a int, _Reason string"))
    assert(error.condition == "LATE_COLUMN_NAME" && error.getMessage.contains("'_Reason'"))
    assert(error.getMessage.contains("_windows_missed") && error.getMessage.contains("'count'"))
  }

  test("two columns of one name are refused by name") {
    val error = refusal(StructType.fromDDL("n int, N int"))
    assert(error.condition == "LATE_COLUMN_NAME" && error.getMessage.contains("'n'"))
  }

  test("a struct with one field name twice is refused by name, wherever it is") {
    val twice = new StructType().add("n", IntegerType).add("a", IntegerType).add("A", IntegerType)
    val same = new StructType().add("a", IntegerType).add("a", IntegerType)
    Seq(
      twice -> "'c'",
      same -> "'c'",
      ArrayType(twice) -> "'c.element'",
      MapType(IntegerType, new StructType().add("of", ArrayType(same))) -> "'c.value.of.element'",
      MapType(twice, IntegerType) -> "'c.key'"
    ).foreach { case (bad, path) =>
      val error = refusal(new StructType().add("a", IntegerType).add("c", bad))
      assert(error.condition == "LATE_FIELD_NAME" && error.getMessage.contains(path))
    }
  }

  test("a type that Parquet has not is refused by name, wherever it is") {
    val empty = new StructType()
    Seq[DataType](CalendarIntervalType, ArrayType(CalendarIntervalType), empty).foreach { bad =>
      val error = refusal(new StructType().add("a", IntegerType).add("c", bad))
      assert(error.condition == "LATE_COLUMN_TYPE" && error.pythonClass == "ColumnTypeError")
      assert(error.getMessage.contains("'c'") && error.getMessage.contains("'late' to 'count'"))
    }
  }

  test("a type that Parquet has is taken") {
    val ddl =
      "a interval day to second, b interval year to month, c map<int, variant>, d binary, " +
        "e timestamp_ntz, f decimal(38, 3), g struct<h date>, i void"
    LateSchema.of(StructType.fromDDL(ddl).add("j", NullType)): Unit
  }
}
