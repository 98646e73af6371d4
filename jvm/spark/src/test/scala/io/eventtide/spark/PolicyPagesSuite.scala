package io.eventtide.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

/** The examples in Scala of docs/reference/policies.md and of pages about watermarks, as
  * ScalaPageSuite.
  */
@Slow
class PolicyPagesSuite extends AnyFunSuite with PageRows {

  test("a session with Eventtide") {
    val running = this.spark
    // begin
    import io.eventtide.spark._

    val spark = Eventtide.configure(SparkSession.builder()).getOrCreate()
    // end
    assert(spark.sparkContext eq running.sparkContext)
  }

  test("a fixed lag") {
    val events = stream
    // begin
    val timed = Eventtide.withWatermark(events, "ts", WatermarkPolicy.withFixedLag("5s"))
    // end
    runs(timed)
  }

  test("a target for late rows") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.withLateTarget("1%", maxLag = "1h", start = "10s")
    val timed = Eventtide.withWatermark(events, "ts", policy)
    // end
    runs(timed)
  }

  test("a lag and a delay") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.limitingLagAndDelay("1m", "16s")
    val timed = Eventtide.withWatermark(events, "ts", policy)
    // end
    runs(timed)
  }

  test("a lag and a lull") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.limitingLagAndLull("5s", "30s")
    val timed = Eventtide.withWatermark(events, "ts", policy)
    // end
    runs(timed)
  }

  test("a lag behind rows and one behind the clock") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.limitingTimestampAndWallClockLag("5s", "20s")
    val timed = Eventtide.withWatermark(events, "ts", policy)
    // end
    runs(timed)
  }

  test("a lag behind the clock") {
    val events = stream
    // begin
    val timed = Eventtide.withWatermark(events, "ts", WatermarkPolicy.limitingRealTimeLag("10s"))
    // end
    runs(timed)
  }

  test("ingestion time") {
    val events = stream
    // begin
    val timed = Eventtide.withIngestionTime(events, "seen")
    // end
    runs(timed)
  }

  test("the lower of two watermarks") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.minOf(
      WatermarkPolicy.withFixedLag("5s"),
      WatermarkPolicy.limitingRealTimeLag("20s")
    )
    val timed = Eventtide.withWatermark(events, "ts", policy)
    // end
    runs(timed)
  }

  test("a policy for each substream") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.bySubstream(
      "north" -> WatermarkPolicy.withFixedLag("30s"),
      "*" -> WatermarkPolicy.withFixedLag("5s")
    )
    val options = WatermarkOptions().substream("device")
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    // end
    runs(timed)
  }

  test("a throttle by frame") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.withFixedLag("5s").throttleByFrame("10s")
    val timed = Eventtide.withWatermark(events, "ts", policy)
    // end
    runs(timed)
  }

  test("a guard") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.withFixedLag("5s").guardFuture("1m")
    val timed = Eventtide.withWatermark(events, "ts", policy)
    // end
    runs(timed)
  }

  test("an idle timeout") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.withFixedLag("0s")
    val options = WatermarkOptions().substream("device").substreamIdleTimeout("1m")
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    // end
    runs(timed)
  }

  test("expected substreams") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.withFixedLag("0s")
    val options = WatermarkOptions().substream("device").expected(2)
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    // end
    runs(timed)
  }

  test("the first choices of a policy") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.withFixedLag("10s")
    val options = WatermarkOptions().substream("device").substreamIdleTimeout("5m")
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    // end
    runs(timed)
    throttled()
  }

  private def throttled(): Unit = {
    val events = stream
    // begin
    val policy = WatermarkPolicy.limitingLagAndLull("5s", "30s").throttleByFrame("10s")
    val options = WatermarkOptions().substream("device").substreamIdleTimeout("5m")
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    // end
    runs(timed)
  }

  test("the line of Spark and the line in its place") {
    val events = stream
    // begin
    val timed = events.withWatermark("ts", "10 seconds")
    // end
    assert(timed.isStreaming)
    replaced()
    extended()
  }

  private def replaced(): Unit = {
    val events = stream
    // begin
    val timed = Eventtide.withWatermark(events, "ts", WatermarkPolicy.withFixedLag("10 seconds"))
    // end
    runs(timed)
  }

  private def extended(): Unit = {
    val events = stream
    // begin
    val policy = WatermarkPolicy.limitingLagAndLull("10s", "1m").throttleByFrame("1m")
    val options = WatermarkOptions().substream("device").substreamIdleTimeout("15m")
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    // end
    runs(timed)
  }

  test("a watermark for each substream") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.withFixedLag("10s")
    val options = WatermarkOptions().substream("device")
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    // end
    runs(timed)
  }

  test("a timeout for idle keys") {
    val events = stream
    // begin
    val window = Eventtide.window(events).eventTime("ts", WatermarkPolicy.maxEventTime)
    val byDevice = window.keyBy("device").watermarkScope("key").tumbling("10s")
    val counts = byDevice.keyIdleTimeout("1m").agg(count("*").as("n"))
    // end
    runs(counts)
  }
}
