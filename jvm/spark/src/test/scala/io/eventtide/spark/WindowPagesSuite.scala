package io.eventtide.spark

import java.nio.file.Files

import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

/** The examples in Scala of docs/reference/windows.md and of pages about windows, as ScalaPageSuite.
  */
@Slow
class WindowPagesSuite extends AnyFunSuite with PageRows {

  test("sliding windows by device") {
    val events = stream
    // begin
    val counts = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.withFixedLag("5s").throttleByFrame("10s"))
      .keyBy("device")
      .sliding("1m", "10s")
      .agg(count("*").as("n"), max("ts").as("latest"))
    val query = counts.start(counts.results.writeStream.format("console"))
    // end
    query.stop()
    runs(counts)
  }

  test("a window for several streams") {
    val events = stream
    // begin
    val minutes = Eventtide
      .window()
      .eventTime("ts", WatermarkPolicy.withFixedLag("5s"))
      .tumbling("1m")
      .agg(count("*").as("n"))
    val everything = minutes.over(events)
    val counts = minutes.over(events.where("device = 'a'"))
    // end
    runs(everything, counts)
  }

  test("tumbling windows") {
    val events = stream
    // begin
    val lag = WatermarkPolicy.withFixedLag("5s")
    val hourly = Eventtide.window(events).eventTime("ts", lag).keyBy("device").tumbling("1h")
    val counts = hourly.agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("growing windows") {
    val events = stream
    // begin
    val lag = WatermarkPolicy.withFixedLag("5s")
    val today = Eventtide.window(events).eventTime("ts", lag).cumulate("1 day", "1h")
    val counts = today.agg(approx_count_distinct("device").as("devices"))
    // end
    runs(counts)
  }

  test("sessions") {
    val events = stream
    // begin
    val lag = WatermarkPolicy.withFixedLag("5s")
    val visits = Eventtide.window(events).eventTime("ts", lag).keyBy("device")
    val counts = visits.session("10m").maximumDuration("2h").agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("sessions with a gap for each row") {
    val events = stream
    // begin
    val lag = WatermarkPolicy.withFixedLag("5s")
    val gap = when(col("device") === "meter", "1 hour").otherwise("10 minutes")
    val visits = Eventtide.window(events).eventTime("ts", lag).keyBy("device").session(gap)
    val counts = visits.agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("count windows") {
    val events = stream
    // begin
    val latest = Eventtide.window(events).processingTime().keyBy("device").byCount(100, 10)
    val counts = latest.agg(max("ts").as("latest"))
    // end
    runs(counts)
  }

  test("fiscal years") {
    val events = stream
    // begin
    val years = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.withFixedLag("1h"))
      .tumbling("1 year")
      .origin("2024-04-01")
      .timeZone("Europe/Berlin")
      .agg(count("*").as("n"))
    // end
    runs(years)
  }

  test("windows over rows with a watermark") {
    val events = stream
    // begin
    val policy = WatermarkPolicy.limitingLagAndLull("5s", "1m")
    val timed = Eventtide.withWatermark(events, "ts", policy)
    val counts = Eventtide.window(timed).tumbling("1m").agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("a watermark for each key") {
    val events = stream
    // begin
    val counts = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.maxEventTime)
      .keyBy("device")
      .watermarkScope("key")
      .tumbling("1m")
      .keyIdleTimeout("5m")
      .agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("a watermark for each group of keys") {
    val events = stream
    // begin
    val counts = Eventtide
      .window(events.withColumn("site", substring(col("device"), 1, 1)))
      .eventTime("ts", WatermarkPolicy.withFixedLag("10s"))
      .keyBy("device", "site")
      .watermarkScope(col("site"))
      .tumbling("1m")
      .agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("a replay that closes all windows") {
    val events = stream
    // begin
    val counts = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.withFixedLag("5s"))
      .keyBy("device")
      .session("10m")
      .agg(count("*").as("n"))
    val replay = counts.results.writeStream.format("noop").trigger(Trigger.AvailableNow())
    counts.start(replay, drain = true).awaitTermination()
    // end
    runs(counts)
  }

  test("late rows in a folder") {
    val events = stream
    val folder = Files.createTempDirectory("late").toString
    // begin
    val counts = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.withFixedLag("5s"), WatermarkOptions().substream("device"))
      .tumbling("1m")
      .delay("10s")
      .lateTo(folder)
      .agg(count("*").as("n"))
    // end
    runs(counts)
  }

  test("two triggers") {
    val events = stream
    // begin
    val counts = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.withFixedLag("5s"))
      .keyBy("device")
      .tumbling("1m")
      .emit(WindowTrigger.atWindowEnd, WindowTrigger.every("10s"))
      .agg(count("*").as("n"))
    val last = counts.results.where("trigger = 'at_window_end'")
    // end
    runs(counts)
    assert(last.isStreaming)
  }

  test("corrected visits") {
    val events = stream
    // begin
    val visits = Eventtide
      .window(events)
      .eventTime("ts", WatermarkPolicy.maxEventTime)
      .keyBy("device")
      .watermarkScope("key")
      .session("5m")
      .keyIdleTimeout("30m")
      .allowedLateness("1h")
      .emit(WindowTrigger.atWindowEnd)
      .lateUpdates()
      .agg(count("*").as("n"))
    val corrections = visits.results.where("pane_timing = 'late'")
    // end
    runs(visits)
    assert(corrections.isStreaming)
  }
}
