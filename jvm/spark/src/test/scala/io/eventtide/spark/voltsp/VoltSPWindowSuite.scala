package io.eventtide.spark.voltsp

import java.time.Duration

import org.apache.spark.sql.functions.{col, lit, max}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.testkit.Script
import io.eventtide.spark.{
  BorderFiles,
  EventtideException,
  RocksSession,
  WatermarkPolicy,
  WindowTrigger
}

class VoltSPWindowSuite extends AnyFunSuite with RocksSession {
  private lazy val rate: DataFrame = spark.readStream
    .format("rate")
    .load()
    .selectExpr("timestamp AS ts", "CAST(value AS STRING) AS device", "value AS v")

  private def hour = Windows.tumblingTimeWindow().withWindowSpan("1h")

  private def byTime(window: VoltSPWindow)(more: TimeConfig => TimeConfig) =
    window.withTimeConfigBuilder(builder => more(builder.withEventTimeExtractor("ts")))

  test("every window of the border has the same options in Scala") {
    val session = Windows.sessionWindow().withMaximumDuration("1h").withTouching("merge")
    val idle = hour.withLateTo("/data/late")
    val windows = Seq(
      byTime(hour)(identity),
      byTime(Windows.slidingTimeWindow().withWindowSpan(Duration.ofHours(1)).slideBy("10m"))(
        _.withWatermarkStrategy(WatermarkStrategy.MAX_EVENT_TIME).withDelayWindowClose("5s")
      ),
      byTime(session)(_.withIdleTimeout("5m")),
      Windows.tumblingCountWindow().withWindowSpan(100),
      byTime(Windows.slidingCountWindow().withWindowSpan(100).withSlide(10))(identity),
      byTime(idle)(
        _.withIdleTimeout(Duration.ofMinutes(5))
          .withIdleTimeoutClock(TimeSource.EVENT_TIME)
          .withHeartbeat("1s")
          .withKeyTtl("1d")
          .withLateRule("frame_closed")
      ),
      hour.withTimeConfig(TimeConfig().withIdleTimeout("5m")),
      byTime(hour.withLate("count"))(
        _.withScope("global").withPolicy(WatermarkPolicy.withFixedLag("5s"))
      ),
      byTime(hour)(_.withMaxRowsPerBatch(1))
        .emit(WindowTrigger.atWindowEnd, WindowTrigger.every("10s"))
    )
    val cases = BorderFiles.cases("voltsp_options.json")
    assert(windows.length == cases.length)
    windows.zip(cases).foreach { case (window, one) =>
      val request = window.withAggregateDefinition(_.count()).over(rate).request
      val written = one.get("written").asText
      assert(request.toOptions == BorderFiles.texts(one.get("options")), written)
      assert(request.watermark == BorderFiles.texts(one.get("watermark")), written)
    }
  }

  test("aggregates have the names of their columns") {
    val definition = AggregateDefinition()
      .count()
      .count("known", "device")
      .sum("total", "v * 2")
      .avg("mean", col("v"))
      .min("first", "ts")
      .max("last", col("ts"))
      .expression("some", "bool_or(v > 1)")
      .agg(max("v").as("top"))
    val window = byTime(hour.withKeyExtractor("device"))(identity)
    val columns = window.withAggregateDefinition(_ => definition).over(rate).results.columns
    assert(
      columns.toSeq == Seq("window", "device", "count", "known", "total", "mean") ++
        Seq("first", "last", "some", "top")
    )
  }

  test("each key has its own watermark, as in scenario 1 of VoltSP's page") {
    def counts(rows: DataFrame) = byTime(
      Windows.tumblingTimeWindow().withWindowSpan("10s").withKeyExtractor("device")
    )(identity).withAggregateDefinition(_.count()).over(rows).results
    val script = Script(spark, "ts timestamp, device string")(counts)
    def e(second: Int) = Row(f"2024-01-01 00:00:$second%02d", "a")
    try {
      script.rows(e(2), e(5)).expect().rows(e(12))
      assert(script.results().map(row => row.getLong(2)) == Seq(2L))
      script.rows(e(8)).expect().expectLate(1)
    } finally script.close()
  }

  test("settings that contradict each other are refused, with their names") {
    def counted(window: VoltSPWindow) = window.withAggregateDefinition(_.count()).over(rate)
    val session = Windows.sessionWindow()
    val refused = Seq[(String, () => Any)](
      "MISSING_OPTION" -> (() => hour.over(rate)),
      "MISSING_OPTION" -> (() => counted(Windows.tumblingTimeWindow())),
      "MISSING_OPTION" -> (() => counted(session)),
      "INVALID_CHOICE" -> (() => session.withWindowSpan("1h")),
      "INVALID_CHOICE" -> (() => hour.withSlide("1m")),
      "INVALID_CHOICE" -> (() => hour.withWindowSpan(3)),
      "INVALID_CHOICE" -> (() => Windows.tumblingCountWindow().withWindowSpan("1h")),
      "INVALID_CHOICE" -> (() => hour.withMaximumDuration("1h")),
      "INVALID_DURATION" -> (() => hour.withWindowSpan("1 month")),
      "INVALID_DURATION" -> (() => TimeConfig().withIdleTimeout("0s")),
      "INVALID_CHOICE" -> (() => TimeConfig().withScope("keys")),
      "SETTING_CONFLICT" -> (() =>
        counted(hour.withTimeConfig(TimeConfig().withIdleTimeoutClock(TimeSource.EVENT_TIME)))
      ),
      "SETTING_CONFLICT" -> (() =>
        counted(hour.withTimeConfig(TimeConfig().withDelayWindowClose("1s")))
      ),
      "SETTING_CONFLICT" -> (() => counted(hour.withLate("count"))),
      "SETTING_CONFLICT" -> (() =>
        counted(
          byTime(Windows.tumblingCountWindow().withWindowSpan(3))(_.withLateRule("frame_closed"))
        )
      ),
      "SETTING_CONFLICT" -> (() =>
        counted(
          byTime(hour)(
            _.withPolicy(WatermarkPolicy.maxEventTime)
              .withWatermarkStrategy(WatermarkStrategy.MAX_EVENT_TIME)
          )
        )
      ),
      "SETTING_CONFLICT" -> (() => hour.withAggregateDefinition(_.count().count())),
      "EVENT_TIME_TYPE" -> (() =>
        counted(hour.withTimeConfig(TimeConfig().withEventTimeExtractor(lit("x"))))
      )
    )
    refused.zipWithIndex.foreach { case ((condition, make), i) =>
      val error = intercept[EventtideException](make())
      assert(error.condition == condition, s"case $i: ${error.getMessage}")
    }
  }
}
