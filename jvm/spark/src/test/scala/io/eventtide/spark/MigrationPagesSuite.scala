package io.eventtide.spark

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.storm.StormWindow
import io.eventtide.spark.voltsp.Windows

/** The examples in Scala of the first page and of pages about migrations, as ScalaPageSuite. */
@Slow
class MigrationPagesSuite extends AnyFunSuite with PageRows {

  test("the window of the first page") {
    val events = stream
    // begin
    val lag = WatermarkPolicy.withFixedLag("10s")
    val windows = Eventtide
      .window(events)
      .eventTime("ts", lag, WatermarkOptions().substream("device"))
      .keyBy("device")
      .sliding("1m", "10s")
      .agg(count("*").as("n"))
    // end
    runs(windows)
  }

  test("a policy of Jet") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.limitingLagAndLull("3s", "30s").throttleByFrame("1s")
    val options = WatermarkOptions().substream("device").substreamIdleTimeout("1m")
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    // end
    runs(timed)
  }

  test("a window of Jet") {
    val events = stream
    // begin
    val lag = WatermarkPolicy.withFixedLag("3s")
    val counts = Eventtide
      .window(events)
      .eventTime("ts", lag, WatermarkOptions().substream("device"))
      .keyBy("device")
      .sliding("1m", "1s")
      .profile("jet")
      .emit(WindowTrigger.atWindowEnd, WindowTrigger.every("10s"))
      .agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("a bolt of Storm") {
    val orders = stream.withColumn("amount", lit(2.5))
    // begin
    val bolt = StormWindow()
      .withWindow("20s", "10s")
      .withTimestampField("ts")
      .withLag("5s")
      .withLateTupleStream("late")
      .over(orders)
    val windows = bolt.execute("end timestamp, orders long, total double") { window =>
      val amounts = window.get.map(_.getAs[Double]("amount"))
      val end = java.sql.Timestamp.from(window.getEndTimestamp)
      Iterator(Row(end, amounts.size.toLong, amounts.sum))
    }
    val query = windows.start(windows.results.writeStream.format("console"))

    val late = bolt.stream("late", query).writeStream.format("console").start()
    // end
    late.stop()
    query.stop()
    runs(windows)
  }

  test("a window of VoltSP") {
    val events = stream
    // begin
    val hourly = Windows
      .tumblingTimeWindow()
      .withWindowSpan("1h")
      .withKeyExtractor("device")
      .withTimeConfigBuilder(_.withEventTimeExtractor("ts").withIdleTimeout("5m"))
      .withAggregateDefinition(_.count())
      .emit(WindowTrigger.atWindowEnd)
    val counts = hourly.over(events)
    val query = counts.start(counts.results.writeStream.format("console"))
    // end
    query.stop()
    runs(counts)
  }
}
