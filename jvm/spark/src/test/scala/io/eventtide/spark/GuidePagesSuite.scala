package io.eventtide.spark

import java.nio.file.Files

import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.storm.{Count, StormWindow}
import io.eventtide.spark.voltsp.{TimeConfig, WatermarkStrategy, Windows}

/** The examples in Scala of pages about late rows, Storm and VoltSP, as ScalaPageSuite. */
@Slow
class GuidePagesSuite extends AnyFunSuite with PageRows {

  test("the late log") {
    val events = stream
    // begin
    val counts = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.withFixedLag("5s"))
      .keyBy("device")
      .tumbling("1m")
      .agg(count("*").as("n"))
    val query = counts.start(counts.results.writeStream.format("console"))
    query.processAllAvailable()

    val late = Eventtide.lateRows(query)
    late.groupBy("_reason").count().show()
    // end
    query.stop()
  }

  test("a handler of late rows") {
    val events = stream
    val folder = Files.createTempDirectory("late").toString
    // begin
    def handle(rows: DataFrame, context: LateContext): Unit = {
      if (context.reasons.contains("bad_time"))
        println(s"batch ${context.batchId} has rows without a time: ${context.reasons}")
      rows.write.mode("overwrite").parquet(s"$folder/${context.batchId}")
    }

    val counts = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.withFixedLag("5s"))
      .tumbling("1m")
      .agg(count("*").as("n"))
      .onLate(handle _)
    val query = counts.start(counts.results.writeStream.format("console"))
    // end
    query.processAllAvailable()
    query.stop()
  }

  test("a repair of results") {
    val data = Files.createTempDirectory("repair").toString
    // begin
    val archived = "ts timestamp, device string"

    def window(events: DataFrame): WindowBuilder = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.withFixedLag("5s"))
      .keyBy("device")
      .tumbling("1m")
      .agg(count("*").as("n"))

    def hourly(spark: SparkSession): Unit = {
      val counts = window(spark.readStream.schema(archived).json(s"$data/archive"))
      val writer = counts.results.writeStream.format("parquet").option("path", s"$data/results")
      val checked = writer.option("checkpointLocation", s"$data/tides")
      counts.start(checked.trigger(Trigger.AvailableNow())).awaitTermination()
    }

    def nightly(spark: SparkSession): Unit = {
      def correct(late: DataFrame, batchId: Long): Unit = {
        val archive = spark.read.schema(archived).json(s"$data/archive")
        val results = spark.read.parquet(s"$data/results")
        val repaired = Eventtide.repair(results, late, window(archive), archive)
        val corrections = repaired.where("changed <> 'unchanged'")
        corrections.write.mode("overwrite").parquet(s"$data/corrections/$batchId")
      }

      val log = spark.readStream.format("eventtide-late").option("checkpoint", s"$data/tides")
      val writer = log.load().writeStream.foreachBatch(correct _).trigger(Trigger.AvailableNow())
      writer.option("checkpointLocation", s"$data/nightly").start().awaitTermination()
    }
    // end
    def add(rows: (String, String)*): Unit = spark
      .createDataFrame(rows)
      .selectExpr("to_timestamp('2024-01-01 ' || _1) AS ts", "_2 AS device")
      .coalesce(1)
      .write
      .mode("append")
      .json(s"$data/archive")
    add("12:00:07" -> "a", "12:00:30" -> "b", "12:02:00" -> "a")
    hourly(spark)
    add("12:00:12" -> "a", "12:00:40" -> "c", "12:03:00" -> "a")
    hourly(spark)
    nightly(spark)
    val corrections = spark.read.parquet(s"$data/corrections/*").orderBy("device")
    assert(
      corrections.select("device", "n", "changed").collect().toSeq ==
        Seq(Row("a", 2L, "corrected"), Row("c", 1L, "new"))
    )
  }

  test("a bolt with aggregates") {
    val events = stream
    // begin
    val bolt = StormWindow()
      .withWindow("20s", "10s")
      .withTimestampField("ts")
      .withLag("5s")
      .withLateTupleStream("late")
      .over(events)
    val counts = bolt.agg(count("*").as("n"))
    val query = counts.start(counts.results.writeStream.format("console"))
    // end
    query.stop()
    runs(counts)
  }

  test("a bolt with a function") {
    val events = stream
    // begin
    val bolt = StormWindow().withWindow("20s", "10s").withTimestampField("ts").withLag("5s")
    val tops = bolt.over(events).execute("device string, ts timestamp") { window =>
      window.get.groupBy(_.getAs[String]("device")).map { case (device, rows) =>
        Row(device, rows.map(_.getAs[java.sql.Timestamp]("ts")).max)
      }
    }
    // end
    runs(tops)
  }

  test("a bolt for each key") {
    val events = stream
    // begin
    val bolt = StormWindow().withWindow(Count(100), Count(10)).withTimestampField("ts").over(events)
    val latest = bolt.groupBy("device").withKeyTtl("12h").agg(max("ts").as("latest"))
    // end
    runs(latest)
  }

  test("a bolt with two streams") {
    val events = stream
    // begin
    val orders = events.select(col("ts"), col("device").as("order"))
    val clicks = events.select(col("ts").as("at"), col("device").as("page"))
    val bolt = StormWindow()
      .withWindow("1m", "10s")
      .withTimestampField(Map("orders" -> "ts", "clicks" -> "at"))
      .over("orders" -> orders, "clicks" -> clicks)
    val counts = bolt.groupBy("_stream").agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("an hourly window of VoltSP") {
    val events = stream
    // begin
    val hourly = Windows
      .tumblingTimeWindow()
      .withWindowSpan("1h")
      .withKeyExtractor("device")
      .withTimeConfigBuilder(_.withEventTimeExtractor("ts").withIdleTimeout("5m"))
      .withAggregateDefinition(_.count().max("latest", "ts"))
      .emit(WindowTrigger.atWindowEnd)
    val counts = hourly.over(events)
    val query = counts.start(counts.results.writeStream.format("console"))
    // end
    query.stop()
    runs(counts)
  }

  test("processing time of VoltSP") {
    val events = stream
    // begin
    val seen = Windows
      .tumblingTimeWindow()
      .withWindowSpan("10s")
      .withKeyExtractor("device")
      .withAggregateDefinition(_.count())
    val counts = seen.over(events)
    // end
    runs(counts)
  }

  test("a delay and a strategy of VoltSP") {
    val events = stream
    // begin
    val counts = Windows
      .tumblingTimeWindow()
      .withWindowSpan("10s")
      .withKeyExtractor("device")
      .withTimeConfig(
        TimeConfig()
          .withEventTimeExtractor("ts")
          .withWatermarkStrategy(WatermarkStrategy.MAX_EVENT_TIME)
          .withDelayWindowClose("3s")
      )
      .withAggregateDefinition(_.count())
      .over(events)
    // end
    runs(counts)
  }
}
