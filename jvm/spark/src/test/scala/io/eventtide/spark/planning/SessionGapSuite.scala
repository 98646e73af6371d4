package io.eventtide.spark.planning

import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BindReferences}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.{CalendarIntervalType, DataType, DayTimeIntervalType, StringType}
import org.apache.spark.sql.{Column, classic}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{EventtideException, LocalSession}

/** What the gap of a row may be, and how long it is. */
final class SessionGapSuite extends AnyFunSuite with LocalSession {
  private val second = 1000000L
  private val day = 86400 * second

  private val usable: Seq[(DataType, Any, Long)] = Seq(
    (StringType, UTF8String.fromString("5 seconds"), 5 * second),
    (StringType, UTF8String.fromString("interval 1 hour 30 minutes"), 5400 * second),
    (StringType, UTF8String.fromString("1 day -1 hour"), day - 3600 * second),
    (StringType, UTF8String.fromString("1 microsecond"), 1),
    (CalendarIntervalType, new CalendarInterval(0, 2, second), 2 * day + second),
    (CalendarIntervalType, new CalendarInterval(0, Int.MaxValue, 0), Long.MaxValue),
    (DayTimeIntervalType(), 7 * second, 7 * second)
  )

  private val unusable: Seq[(DataType, Any)] = Seq(
    StringType -> UTF8String.fromString("0 seconds"),
    StringType -> UTF8String.fromString("-5 seconds"),
    StringType -> UTF8String.fromString("1 month"),
    StringType -> UTF8String.fromString("5s"),
    StringType -> UTF8String.fromString(""),
    CalendarIntervalType -> new CalendarInterval(1, 5, 0),
    CalendarIntervalType -> new CalendarInterval(0, -1, second),
    DayTimeIntervalType() -> 0L,
    DayTimeIntervalType() -> -1L
  ) ++ Seq(StringType, CalendarIntervalType, DayTimeIntervalType()).map(_ -> null)

  private def micros(gap: DataType, value: Any): Option[Long] = {
    val column = AttributeReference("gap", gap)()
    val bound = BindReferences.bindReference(GapMicros(column), Seq(column))
    val row = InternalRow(value)
    val generated = GenerateUnsafeProjection.generate(Seq(bound))(row)
    val found = Option.when(!generated.isNullAt(0))(generated.getLong(0))
    assert(Option(bound.eval(row)) == found)
    found
  }

  test("a gap is a number of microseconds, in generated code too") {
    for ((kind, value, length) <- usable)
      assert(micros(kind, value).contains(length), s"$kind $value")
    for ((kind, value) <- unusable) assert(micros(kind, value).isEmpty, s"$kind $value")
  }

  private lazy val rows: DataFrame = spark
    .range(3)
    .select(col("id"), col("id").cast("string").as("text"))
    .asInstanceOf[classic.DataFrame]

  test("each kind of gap is a column of the rows") {
    val gaps = Seq(
      col("text"),
      lit("5 seconds"),
      lit(Duration.ofSeconds(5)),
      expr("make_interval(0, 0, 0, id)"),
      expr("make_dt_interval(id)"),
      when(col("id") === 1, "5 seconds"),
      concat(col("text"), lit(" seconds")),
      udf((id: Long) => s"$id seconds").apply(col("id"))
    )
    gaps.foreach { gap =>
      val column = SessionGap(rows, gap)
      assert(column.references.subsetOf(rows.queryExecution.analyzed.outputSet), gap)
    }
  }

  private def refused(gap: Column): EventtideException =
    intercept[EventtideException](SessionGap(rows, gap))

  test("what is no gap of a row is refused by name") {
    assert(refused(col("nothing")).condition == "GAP_UNRESOLVED")
    assert(refused(count(lit(1)).cast("string")).condition == "GAP_UNRESOLVED")
    assert(refused(explode(array(col("text")))).condition == "GAP_UNRESOLVED")
    assert(refused(col("id")).getMessage.contains("BIGINT"))
    assert(refused(lit(null)).condition == "GAP_TYPE")
    assert(refused(expr("interval 1 year")).condition == "GAP_TYPE")
    assert(refused(concat(rand(1), lit(" seconds"))).condition == "GAP_NOT_DETERMINISTIC")
  }

  test("a constant that is no length is refused wherever it would be the gap of a row") {
    val wrong = Seq(
      lit("5s"),
      lit("1 month"),
      lit(Duration.ZERO),
      expr("interval '0' second"),
      when(col("id") === 1, "5 seconds").otherwise("-5 seconds"),
      coalesce(col("text"), lit("soon")),
      expr("if(id > 1, '5 seconds', '')")
    )
    wrong.foreach(gap => assert(refused(gap).condition == "GAP_WITHOUT_LENGTH", gap))
    assert(refused(lit("5s")).getMessage.contains("is '5s' for some rows"))
  }
}
