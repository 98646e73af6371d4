package io.eventtide.spark

import org.apache.spark.sql.functions.{col, count, lit, sum, window}
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.implicits._
import io.eventtide.spark.storm.{Count, StormWindow}
import io.eventtide.spark.testkit.Script
import io.eventtide.spark.voltsp.Windows

/** The examples of docs/reference/scala.md, each between two comments; tests/unit compares them with
  * the pages. The examples in Java are in JavaUser.java.
  */
@Slow
class ScalaPageSuite extends AnyFunSuite with PageRows {
  private def configured: SparkSession = {
    // begin
    val spark = Eventtide.configure(SparkSession.builder().master("local[2]")).getOrCreate()
    // end
    spark
  }

  test("a session of the page is the session that runs") {
    assert(configured.sparkContext eq spark.sparkContext)
  }

  private def sliding(events: DataFrame): WindowBuilder = {
    // begin
    val policy = WatermarkPolicy.limitingLagAndLull("10s", "1m").throttleByFrame("1s")
    val counts = Eventtide
      .window(events)
      .eventTime("ts", policy, WatermarkOptions().substream("device"))
      .keyBy("device")
      .sliding("1m", "10s")
      .agg(count("*").as("n"), sum("amount").as("total"))
    // end
    counts
  }

  test("the window of the page gives its rows") {
    assert(sliding(rows).results.where("device = 'b'").count() == 6)
    assert(sliding(stream).results.columns.toSeq == Seq("window", "device", "n", "total"))
  }

  test("the window of the README runs") {
    val events = stream
    // begin
    val lag = WatermarkPolicy.withFixedLag("5s")
    val counts = Eventtide
      .window(events)
      .eventTime("ts", lag, WatermarkOptions().substream("device"))
      .keyBy("device")
      .tumbling("1m")
      .agg(count("*").as("n"))
    // end
    runs(counts)
  }

  private def start(counts: WindowBuilder): Unit = {
    // begin
    val query = counts.start(
      counts.results.writeStream.format("console").option("checkpointLocation", "/data/counts")
    )
    // end
    try {
      query.processAllAvailable()
      reports(query)
    } finally query.stop()
  }

  test("the examples with a query run") {
    def minutes(events: DataFrame) = {
      val lag = WatermarkPolicy.withFixedLag("10s")
      Eventtide.window(events).eventTime("ts", lag).keyBy("device").tumbling("1m").agg(count("*"))
    }
    val counts = minutes(stream)
    PageFiles.in(spark.sparkContext.hadoopConfiguration) {
      start(counts)
      checkpoints(spark, counts, minutes(rows).results, rows)
    }
  }

  private def byImplicits(events: DataFrame): DataFrame = {
    // begin
    // import io.eventtide.spark.implicits._
    val lag = WatermarkPolicy.withFixedLag("10s")
    val timed = events.withWatermark("ts", lag, WatermarkOptions().substreamIdleTimeout("15m"))
    val minutes = timed.groupBy(window(col("ts"), "1 minute"), col("device")).count()
    // end
    minutes
  }

  test("Spark's own operators use the watermark") {
    assert(byImplicits(stream).isStreaming)
  }

  private def reports(query: StreamingQuery): Unit = {
    // begin
    Eventtide.blame(query).foreach(println)
    for (input <- Eventtide.progress(query).toSeq.flatMap(_.inputs); one <- input.substreams)
      println(s"${one.name}: ${one.watermark}, ${one.state}, ${one.lagBehindLeader}")
    // end
  }

  private def checkpoints(
      spark: SparkSession,
      counts: WindowBuilder,
      written: DataFrame,
      archive: DataFrame
  ): Unit = {
    // begin
    val late = Eventtide.lateRows(spark, "/data/counts")
    val open = Eventtide.openWindows("/data/counts", counts)
    val report = Eventtide.checkpoint(spark, "/data/counts")
    val repaired = Eventtide.repair(written, late, counts, archive)
    // end
    assert(Seq(open, repaired).nonEmpty && report.problems.isEmpty)
  }

  test("the reports of a query can be read") {
    written(sliding(stream)) { query =>
      assert(Eventtide.checkpoint(query).windows.length == 1)
      assert(Eventtide.lateRows(query).isEmpty)
    }
  }

  test("the script of the page passes") {
    def minutes(rows: DataFrame): DataFrame = Eventtide
      .window(rows)
      .eventTime("ts", WatermarkPolicy.withFixedLag("2s"))
      .tumbling("1m")
      .agg(count(lit(1)).as("n"))
      .results
    // begin
    val script = Script(spark, "ts timestamp, device string")(minutes)
    try {
      script.rows(Row("2024-01-01 00:00:07", "a"), Row("2024-01-01 00:00:30", "b")).expect()
      script.rows(Row("2024-01-01 00:01:02", "a"))
      script.expect(Row(Row("2024-01-01 00:00:00", "2024-01-01 00:01:00"), 2L))
      script.expectWatermark("2024-01-01 00:01:00").rows(Row("2024-01-01 00:00:59", "c"))
      script.expect().expectLate(1)
    } finally script.close()
    // end
  }

  private def bolts(events: DataFrame): Seq[WindowBuilder] = {
    // begin
    val bolt = StormWindow()
      .withWindow("20s", Count(3))
      .withTimestampField("ts")
      .withLag("5s")
      .over(events)
      .groupBy("device")
    val latest = bolt.execute("device string, n long, added long") { window =>
      Iterator(Row(window.key.getString(0), window.get.size.toLong, window.getNew.size.toLong))
    }
    val totals = bolt.agg(sum("amount").as("total"))
    // end
    Seq(latest, totals)
  }

  test("the bolts of the page have results") {
    val columns = bolts(stream).map(_.results.columns.toSeq)
    assert(columns == Seq(Seq("device", "n", "added"), Seq("window", "device", "total")))
  }

  private def hourly(events: DataFrame): WindowBuilder = {
    // begin
    val hourly = Windows
      .tumblingTimeWindow()
      .withWindowSpan("1h")
      .withKeyExtractor("device")
      .withTimeConfigBuilder(_.withEventTimeExtractor("ts").withIdleTimeout("5m"))
      .withAggregateDefinition(_.count().sum("total", "amount"))
      .withExceptionHandler((late, context) => println(s"${context.batchId}: ${late.count()} late"))
      .over(events)
    // end
    hourly
  }

  test("the window of VoltSP has results") {
    assert(hourly(stream).results.columns.toSeq.startsWith(Seq("window", "device", "count")))
  }
}
