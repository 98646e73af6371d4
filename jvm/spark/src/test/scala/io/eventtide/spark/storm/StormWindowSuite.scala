package io.eventtide.spark.storm

import java.time.Duration

import org.apache.spark.sql.functions.{col, count, lit, sum}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.testkit.Script
import io.eventtide.spark.{BorderFiles, EventtideException, RocksSession}

class StormWindowSuite extends AnyFunSuite with RocksSession {
  private lazy val rate: DataFrame = spark.readStream
    .format("rate")
    .load()
    .selectExpr("timestamp AS ts", "CAST(value AS STRING) AS device")

  private def timed = StormWindow().withTimestampField("ts").over(rate)
  private val n = count(lit(1)).as("n")

  test("every bolt of the border has the same options in Scala") {
    val shown = (_: TupleWindow) => Seq.empty[Row]
    val bolts = Seq(
      timed.withWindow("20s", "10s").agg(n),
      timed.withTumblingWindow("1m").agg(n),
      timed.withWindow(Duration.ofSeconds(25), Duration.ofSeconds(10)).agg(n),
      timed.withWindow(Count(3), "250ms").agg(n),
      timed.withWindow("20s", Count.of(3)).groupBy("device").withKeyTtl("1h").agg(n),
      timed.withTumblingWindow(Count(1000000)).withMaxEventsInMemory(1000).agg(n),
      timed.withWindow(Count(5)).withLate("count").agg(n),
      timed.withWindow("20s", "10s").withLateTo("/data/late").execute("n long")(shown),
      timed.withWindow("20s", Count(3)).execute("n long")(shown)
    )
    val cases = BorderFiles.cases("storm_options.json")
    assert(bolts.length == cases.length)
    bolts.zip(cases).foreach { case (bolt, one) =>
      val expected = BorderFiles.texts(one.get("options"))
      assert(bolt.request.toOptions == expected, one.get("written").asText)
    }
  }

  test("the watermark is Storm's, over the declared streams") {
    val bolt = timed.withWindow("20s", "10s").withLag("5s").withWatermarkInterval("2s").agg(n)
    assert(
      bolt.request.watermark == Map(
        "policy" -> "storm",
        "lag" -> "PT5S",
        "decorators.0" -> "emit_every",
        "decorators.0.interval" -> "PT2S",
        "expected.0" -> "default"
      )
    )
    val two = StormWindow()
      .withWindow("1m", "10s")
      .withTimestampField(Map("orders" -> "ts", "clicks" -> "at"))
      .over("orders" -> rate, "clicks" -> rate.withColumnRenamed("ts", "at"))
      .agg(n)
    assert(two.request.eventTime.contains("_extracted_event_time"))
    assert(two.request.watermark.get("expected.1").contains("clicks"))
    assert(two.df.columns.contains("_stream") && two.results.columns.toSeq == Seq("window", "n"))
  }

  private def at(time: String) = s"2024-01-01 $time"

  private def scripted(bolt: DataFrame => DataFrame)(work: Script => Unit): Unit = {
    val script = Script(spark, "id string, ts timestamp", clock = at("09:00:00.5"))(bolt)
    try work(script)
    finally script.close()
  }

  test("a function gets the windows of the example on Storm's page") {
    def evaluated(events: DataFrame) = StormWindow()
      .withWindow("20s", "10s")
      .withTimestampField("ts")
      .withLag("5s")
      .over(events)
      .execute("start timestamp, end timestamp, ids array<string>") { window =>
        val ids = window.get.map(_.getAs[String]("id"))
        val start = java.sql.Timestamp.from(window.getStartTimestamp.get)
        Some(Row(start, java.sql.Timestamp.from(window.getEndTimestamp), ids))
      }
      .results
    val rows = Seq("e1" -> "06:00:03", "e2" -> "06:00:05", "e3" -> "06:00:07") ++
      Seq("e4" -> "06:00:18", "e5" -> "06:00:26", "e6" -> "06:00:36")
    def window(from: String, to: String, ids: String*) = Row(at(from), at(to), ids)
    scripted(evaluated) { script =>
      script.rows(rows.map { case (id, time) => Row(id, at(time)) }: _*).expect()
      script.clock(at("09:00:01"))
      script.expect(
        window("05:59:50", "06:00:10", "e1", "e2", "e3"),
        window("06:00:00", "06:00:20", "e1", "e2", "e3", "e4"),
        window("06:00:10", "06:00:30", "e4", "e5")
      )
      script.expectWatermark(at("06:00:31"))
    }
  }

  test("new minus expired rows is the sum of a window, over batches and a restart") {
    def sums(events: DataFrame) = {
      val session = spark
      import session.implicits._
      StormWindow()
        .withWindow(Count(3), Count(2))
        .withTimestampField("ts")
        .over(events)
        .groupBy(col("id"))
        .execute { window =>
          val ids = Seq(window.get, window.getNew, window.getExpired).map(_.length)
          Seq((window.key.getString(0), ids.head, ids(1), ids(2)))
        }
        .results
        .toDF("id", "all", "new", "expired")
    }
    scripted(sums) { script =>
      def four(from: Int) = (from until from + 4).map(i => Row("a", at(f"09:00:$i%02d")))
      script.rows(four(0): _*).clock("+1s").rows(Row("a", at("09:00:59"))).clock("+1s")
      script.expect(Row("a", 2, 2, 0), Row("a", 3, 2, 1))
      script.restart().rows(Row("a", at("09:01:00"))).clock("+1s")
      script.rows(Row("a", at("09:02:00"))).clock("+1s")
      script.expect(Row("a", 3, 2, 2))
    }
  }

  test("a batch has a call for each full slide, too") {
    val rows = spark.range(5).selectExpr("timestamp_seconds(id) AS ts", "id % 2 AS device")
    val pairs = StormWindow()
      .withTumblingWindow(Count(2))
      .withTimestampField("ts")
      .over(rows)
      .groupBy("device")
      .execute("device long, n int")(window => Seq(Row(window.key.getLong(0), window.get.size)))
    assert(pairs.results.collect().toSet == Set(Row(0L, 2), Row(1L, 2)))
  }

  test("without a timestamp, rows have the time of their batch") {
    val bolt = StormWindow().withTumblingWindow(Count(2)).over(rate).agg(sum(lit(1)).as("s"))
    assert(bolt.request.usesProcessingTime && bolt.results.columns.toSeq == Seq("window", "s"))
  }

  test("late rows are a stream, once it is declared") {
    val bolt = timed.withWindow("20s", "10s")
    val error = intercept[EventtideException](bolt.stream("late", spark, "/none"))
    assert(error.condition == "SETTING_CONFLICT" && error.problem.contains("is not declared"))
  }

  test("Storm's configuration becomes a bolt") {
    val config = Map[String, Any](
      "topology.bolts.window.length.duration.ms" -> 20000,
      "topology.bolts.window.sliding.interval.count" -> 3L,
      "topology.bolts.tuple.timestamp.field.name" -> "ts",
      "topology.bolts.tuple.timestamp.max.lag.ms" -> 5000,
      "topology.workers" -> 4
    )
    val request = StormWindow.fromConfig(config).over(rate).agg(n).request
    assert(
      request.options == Map("kind" -> "storm", "length.time" -> "PT20S", "slide.rows" -> "3")
    )
    assert(request.watermark("lag") == "PT5S")
    def refused(key: String, value: Any) =
      intercept[EventtideException](StormWindow.fromConfig(Map(key -> value))).condition
    assert(refused("topology.bolts.window.size", 1) == "INVALID_CHOICE")
    assert(refused("topology.bolts.window.length.count", "3") == "INVALID_CHOICE")
    assert(refused("topology.bolts.window.sliding.interval.count", 3) == "MISSING_OPTION")
    assert(refused("topology.bolts.window.length.count", 3000000000L) == "INVALID_CHOICE")
    assert(refused("topology.bolts.window.length.duration.ms", Long.MaxValue) == "INVALID_CHOICE")
  }

  test("a configuration may have long windows, and keys without a value") {
    val config = Map[String, Any](
      "topology.bolts.window.length.duration.ms" -> 2592000000L,
      "topology.bolts.late.tuple.stream" -> null
    )
    val month = StormWindow.fromConfig(config).withTimestampField("ts").over(rate).agg(n)
    assert(month.request.toOptions("length.time") == "PT2592000S")
    val twice = config + ("topology.bolts.window.length.count" -> 3)
    val error = intercept[EventtideException](StormWindow.fromConfig(twice))
    assert(error.getMessage.contains("'topology.bolts.window.length.count' is '3'"))
  }

  test("settings that contradict each other are refused, with their names") {
    val sized = StormWindow().withWindow("20s", "10s")
    val refused = Seq[(String, () => Any)](
      "MISSING_OPTION" -> (() => timed.agg(n)),
      "MISSING_OPTION" -> (() => sized.agg(n)),
      "MISSING_OPTION" -> (() => sized.groupBy(Seq.empty[org.apache.spark.sql.Column]: _*)),
      "MISSING_OPTION" -> (() => timed.withWindow("20s", "10s").agg()),
      "SETTING_CONFLICT" -> (() => timed.withTimestampExtractor(col("ts"))),
      "SETTING_CONFLICT" -> (() => sized.withLag("5s").over(rate).agg(n)),
      "SETTING_CONFLICT" -> (() =>
        timed.withWindow("20s").withLate("count").withLateTupleStream("late").agg(n)
      ),
      "INVALID_CHOICE" -> (() => Count(1000001)),
      "INVALID_COUNT" -> (() => Count(0)),
      "INVALID_DURATION" -> (() => sized.withWindow("1us")),
      "EVENT_TIME_TYPE" -> (() =>
        StormWindow().withWindow("20s").withTimestampField("device").over(rate).agg(n)
      ),
      "SETTING_CONFLICT" -> (() =>
        timed.over("a" -> rate, "b" -> rate.withColumn("device", lit(1)))
      ),
      "COLUMN_EXISTS" -> (() => timed.over("a" -> rate.withColumn("_stream", lit(1)))),
      "SETTING_CONFLICT" -> (() =>
        sized.withTimestampField(Map("x" -> "ts")).over("a" -> rate).agg(n)
      ),
      "SETTING_CONFLICT" -> (() =>
        timed.withWindow("20s").execute("n long")(_ => Nil).agg(n).results
      )
    )
    refused.zipWithIndex.foreach { case ((condition, make), i) =>
      val error = intercept[EventtideException](make())
      assert(error.condition == condition, s"case $i: ${error.getMessage}")
    }
  }
}
