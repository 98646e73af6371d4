package io.eventtide.spark.planning

import java.nio.file.Files
import java.time.Instant

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.eventtide.TestQuery
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row, classic}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}
import io.eventtide.spark.{EventtideException, LocalSession, RequestedWindow}

/** Windows of days and months, over the night of 2024-03-31, which had 23 hours in Berlin. */
final class CalendarWindowSuite extends AnyFunSuite with LocalSession {
  private val zone = "time_zone" -> "Europe/Berlin"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", rocks)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
  }

  private def counted(rows: DataFrame, options: (String, String)*): DataFrame =
    RequestedWindow(
      rows,
      "ts",
      Map("policy" -> "with_fixed_lag", "lag" -> "PT0S"),
      Nil,
      Seq(count(lit(1)).as("n")),
      options.toMap
    )
      .select(col("window.start").cast("string"), col("window.end").cast("string"), col("n"))

  private def instants(times: Seq[String]): DataFrame = spark.createDataFrame(
    times.map(time => Row(java.sql.Timestamp.from(Instant.parse(time)))).asJava,
    StructType.fromDDL("ts TIMESTAMP")
  )

  private def batch(options: (String, String)*)(times: String*): Set[Row] =
    counted(instants(times), options: _*).collect().toSet

  private def streamed(options: (String, String)*)(batches: Seq[String]*): Seq[Set[Row]] = {
    val script = ScriptSource.create(StructType.fromDDL("ts TIMESTAMP"))
    val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    val result = counted(events, options: _*).asInstanceOf[classic.DataFrame]
    val checkpoint = Files.createTempDirectory("calendar").toString
    val scripted = new TestQuery(result, "append", checkpoint, 1000000)
    scripted.start(availableNow = false)
    try
      batches.map { times =>
        script.add(instants(times).asInstanceOf[classic.DataFrame])
        scripted.awaitIdle()
        scripted.newResults().collect().toSet
      }
    finally scripted.stop()
  }

  private val saturday = Row("2024-03-29 23:00:00", "2024-03-30 23:00:00", 1L)
  private val sunday = Row("2024-03-30 23:00:00", "2024-03-31 22:00:00", 2L) // 23 hours
  private val monday = Row("2024-03-31 22:00:00", "2024-04-01 22:00:00", 1L)

  private val times = Seq(
    "2024-03-30T22:59:59Z",
    "2024-03-30T23:00:00Z",
    "2024-03-31T21:59:59Z",
    "2024-03-31T22:00:00Z"
  )

  test("a day has 23 hours where clocks go forward, in a batch") {
    val days = batch("kind" -> "tumbling", "size" -> "P1D", zone)(times: _*)
    assert(days == Set(saturday, sunday, monday))
  }

  test("a day has 23 hours where clocks go forward, in a query, and closes at midnight there") {
    val rows = streamed("kind" -> "tumbling", "size" -> "P1D", zone)(
      times.take(3),
      Seq(times(3)),
      Seq("2024-04-01T21:59:59Z"),
      Seq("2024-04-01T22:00:00Z")
    )
    assert(rows == Seq(Set(saturday), Set(sunday), Set.empty, Set(Row(monday(0), monday(1), 2L))))
  }

  test("a week of days slides by a day, and has an hour less") {
    val weeks = streamed("kind" -> "sliding", "size" -> "P7D", "slide" -> "P1D", zone)(
      Seq("2024-03-30T23:00:00Z"),
      Seq("2024-04-06T22:00:00Z")
    ).last
    val starts = (24 to 30).map(day => s"2024-03-$day 23:00:00")
    val ends = "2024-03-31 22:00:00" +: (1 to 6).map(day => s"2024-04-0$day 22:00:00")
    assert(weeks == starts.zip(ends).map { case (start, end) => Row(start, end, 1L) }.toSet)
  }

  test("a week so far has one start, and a row each day") {
    val monday = "origin" -> "2024-03-24T23:00:00Z" // in Berlin
    val soFar = batch("kind" -> "cumulate", "size" -> "P7D", "step" -> "P1D", zone, monday)(
      "2024-03-30T12:00:00Z",
      "2024-03-31T21:00:00Z",
      "2024-03-31T22:00:00Z"
    )
    val first = "2024-03-24 23:00:00"
    val second = "2024-03-31 22:00:00"
    val later = (1 to 7).map(day => Row(second, f"2024-04-$day%02d 22:00:00", 1L))
    assert(
      soFar == Set(Row(first, "2024-03-30 23:00:00", 1L), Row(first, second, 2L)) ++ later
    )
  }

  test("months and years have the lengths that they have") {
    val months = batch("kind" -> "tumbling", "size" -> "P1M", zone)(times: _*)
    val march = Row("2024-02-29 23:00:00", "2024-03-31 22:00:00", 3L)
    val april = Row("2024-03-31 22:00:00", "2024-04-30 22:00:00", 1L)
    assert(months == Set(march, april))
    val fiscal = "origin" -> "2024-03-31T22:00:00Z"
    val years = batch("kind" -> "tumbling", "size" -> "P12M", zone, fiscal)(times: _*)
    val before = Row("2023-03-31 22:00:00", "2024-03-31 22:00:00", 3L)
    assert(years == Set(before, Row("2024-03-31 22:00:00", "2025-03-31 22:00:00", 1L)))
  }

  test("an offset moves a day by the clock, on the day of the change too") {
    val shifts = batch("kind" -> "tumbling", "size" -> "P1D", "offset" -> "PT6H", zone)(
      "2024-03-31T03:59:59Z",
      "2024-03-31T04:00:00Z"
    )
    val before = Row("2024-03-30 05:00:00", "2024-03-31 04:00:00", 1L)
    assert(shifts == Set(before, Row("2024-03-31 04:00:00", "2024-04-01 04:00:00", 1L)))
  }

  test("times without a zone have the days of their own clock") {
    val local = instants(Seq("2024-03-31T00:00:00Z", "2024-03-31T23:59:59Z"))
      .select(col("ts").cast("timestamp_ntz").as("ts"))
    val days = counted(local, "kind" -> "tumbling", "size" -> "P1D", zone).collect().toSet
    assert(days == Set(Row("2024-03-31 00:00:00", "2024-04-01 00:00:00", 2L)))
  }

  test("the windows of a batch may be put into windows, by the column that has them") {
    val hours = RequestedWindow(
      instants(times),
      "ts",
      Map.empty,
      Nil,
      Seq(count(lit(1)).as("n")),
      Map("kind" -> "tumbling", "size" -> "PT1H")
    )
    for (column <- Seq(null, "window")) {
      val days = RequestedWindow(
        hours,
        column,
        Map.empty,
        Nil,
        Seq(sum("n").as("n")),
        Map("kind" -> "tumbling", "size" -> "P1D", zone)
      )
      val found = days.select(col("window.start").cast("string"), col("n")).collect().toSet
      assert(found == Set(saturday, sunday, monday).map(row => Row(row(0), row(2))))
    }
  }

  test("a batch whose event time is not named, or is none, is refused by name") {
    def refused(rows: DataFrame, column: String): EventtideException =
      intercept[EventtideException] {
        RequestedWindow(
          rows,
          column,
          Map.empty,
          Nil,
          Seq(count(lit(1))),
          Map("kind" -> "tumbling", "size" -> "PT1H")
        )
      }
    val unnamed = refused(instants(times), null)
    assert(unnamed.condition == "MISSING_OPTION" && unnamed.getMessage.contains("'event_time'"))
    val texts = instants(times).select(col("ts").cast("string"))
    assert(refused(texts, "ts").condition == "EVENT_TIME_TYPE")
    assert(refused(texts, "tz").condition == "UNKNOWN_COLUMN")
  }
}
