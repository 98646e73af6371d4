package io.eventtide.spark

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.WatermarkPolicy._

/** The policies of tests/border/options.json in Scala: equal options, and so equal plans. */
class PolicyBorderSuite extends AnyFunSuite {
  private val fixed = withFixedLag("5s")

  private val inScala = Map(
    "with_fixed_lag(lag='5s')" -> fixed,
    "with_fixed_lag(lag='0s')" -> withFixedLag(Duration.ZERO),
    "limiting_lag_and_delay(lag='5s', max_delay='1m')" -> limitingLagAndDelay("5s", "1m"),
    "limiting_lag_and_delay(lag='5s', max_delay='1m', samples=4)" ->
      limitingLagAndDelay("5s", "1m", 4),
    "limiting_lag_and_lull(lag='250ms', max_lull='PT30S')" ->
      limitingLagAndLull(Duration.ofMillis(250), Duration.ofSeconds(30)),
    "limiting_timestamp_and_wall_clock_lag(timestamp_lag='5s', wall_clock_lag='1h')" ->
      limitingTimestampAndWallClockLag("5s", "1h"),
    "with_late_target(target='0.1%')" -> withLateTarget("0.1%"),
    "with_late_target(target=0.015, max_lag='2h', start='10s', memory=1000, budget='forever')" ->
      withLateTarget("1.5%", "2h", "10s", 1000, "forever"),
    "limiting_real_time_lag(lag='1 day')" -> limitingRealTimeLag("1 day"),
    "with_ingestion_time()" -> withIngestionTime,
    "min_event_time()" -> minEventTime,
    "min_event_time_of_all()" -> minEventTimeOfAll,
    "max_event_time()" -> maxEventTime,
    "storm(lag='1us')" -> storm(Duration.ofNanos(1000)),
    "watermark_from(column='mark')" -> watermarkFrom("mark"),
    "min_of(WatermarkPolicies.with_fixed_lag(lag='5s'), " +
      "WatermarkPolicies.limiting_real_time_lag(lag='1h'))" ->
      minOf(fixed, limitingRealTimeLag("1h")),
    "max_of(WatermarkPolicies.min_of(WatermarkPolicies.with_fixed_lag(lag='5s'), " +
      "WatermarkPolicies.storm(lag='1s')), WatermarkPolicies.with_ingestion_time())" ->
      maxOf(minOf(fixed, storm("1s")), withIngestionTime),
    "with_fixed_lag(lag='5s').throttle_by_frame('1s')" -> fixed.throttleByFrame("1s"),
    "with_fixed_lag(lag='5s').throttle_by_frame('1h', offset='15m')" ->
      fixed.throttleByFrame(Duration.ofHours(1), Duration.ofMinutes(15)),
    "with_fixed_lag(lag='5s').throttle_by_min_step('500ms')" -> fixed.throttleByMinStep("500ms"),
    "with_fixed_lag(lag='5s').emit_every('1s')" -> fixed.emitEvery("1s"),
    "with_fixed_lag(lag='5s').guard_future('1h')" -> fixed.guardFuture("1h"),
    "with_fixed_lag(lag='5s').guard_future('1h', on='late')" -> fixed.guardFuture("1h", "late"),
    "with_fixed_lag(lag='5s').guard_future('0s', on='fail')" ->
      fixed.guardFuture(Duration.ZERO, "fail"),
    "min_of(WatermarkPolicies.with_fixed_lag(lag='5s'), WatermarkPolicies.min_event_time())" +
      ".guard_future('1h').throttle_by_frame('1s').emit_every('10s')" ->
      minOf(fixed, minEventTime).guardFuture("1h").throttleByFrame("1s").emitEvery("10s"),
    "by_substream({'eu-*': WatermarkPolicies.with_fixed_lag(lag='1m'), " +
      "'*': WatermarkPolicies.max_event_time()}).throttle_by_frame('1s')" ->
      bySubstream("eu-*" -> withFixedLag("1m"), "*" -> maxEventTime).throttleByFrame("1s"),
    "watermark_from(column='meta.mark').guard_future('1h')" ->
      watermarkFrom("meta.mark").guardFuture("1h")
  )

  test("every policy of the border has the same options in Scala") {
    val cases = BorderFiles.cases("options.json")
    assert(
      cases.map(_.get("written").asText.stripPrefix("WatermarkPolicies.")).toSet == inScala.keySet
    )
    cases.foreach { one =>
      val written = one.get("written").asText.stripPrefix("WatermarkPolicies.")
      assert(inScala(written).options == BorderFiles.texts(one.get("options")), written)
    }
  }

  test("every watermark of the border has the same options in Scala") {
    val everything = WatermarkOptions()
      .substreamIdleTimeout("90s")
      .expected(2)
      .maxSubstreams(10)
      .substreamTtl("7d")
      .maxClockStep(Duration.ofMinutes(10))
      .resumeOnRestart
      .name("orders")
    val watermarks = Seq(
      fixed.options ++ WatermarkOptions().values,
      limitingLagAndLull("5s", "1m").guardFuture("1h").throttleByFrame("1s").options ++
        everything.values,
      storm("2s").options ++
        WatermarkOptions().expected(Seq("north", "south")).keepSubstreams.values
    )
    val expected = BorderFiles.cases("watermark_options.json").map(_.get("options"))
    assert(watermarks == expected.map(BorderFiles.texts))
  }

  test("expected substreams replace those that were expected before") {
    val names = WatermarkOptions().expected(Seq("a", "b", "c"))
    assert(names.expected(Seq("x")).values == Map("expected.0" -> "x"))
    assert(names.expected(2).values == Map("expected" -> "2"))
    assert(names.expected(2).expected(Seq("x")).values == Map("expected.0" -> "x"))
  }

  test("a policy refuses what is no duration, no choice and no plain policy") {
    def refused(condition: String)(make: => Any): Unit =
      assert(intercept[EventtideException](make).condition == condition): Unit
    refused("INVALID_DURATION")(withFixedLag("5"))
    refused("INVALID_DURATION")(withFixedLag(Duration.ofSeconds(-5)))
    refused("INVALID_DURATION")(withFixedLag(Duration.ofNanos(1)))
    refused("INVALID_DURATION")(limitingLagAndDelay("5s", "0s"))
    refused("INVALID_DURATION")(fixed.throttleByFrame("1us"))
    refused("INVALID_COUNT")(limitingLagAndDelay("5s", "1m", 0))
    refused("INVALID_CHOICE")(fixed.guardFuture("1h", "drop"))
    refused("INVALID_CHOICE")(withLateTarget("5"))
    refused("INVALID_CHOICE")(withLateTarget("101%"))
    refused("INVALID_CHOICE")(withLateTarget("1%", "1h", "0s", 100, "never"))
    refused("INVALID_CHOICE")(withLateTarget("1e-2147483647%"))
    refused("INVALID_CHOICE")(withLateTarget(null))
    refused("INVALID_DURATION")(withFixedLag(Duration.ofSeconds(Long.MinValue)))
    refused("INVALID_CHOICE")(fixed.guardFuture("1h", null))
    refused("INVALID_CHOICE")(fromJar("no_such_policy"))
    refused("SETTING_CONFLICT")(fromJar("no_such_policy", "name" -> "orders"))
    refused("SETTING_CONFLICT")(minOf(fixed.emitEvery("1s")))
    refused("INVALID_COUNT")(WatermarkOptions().expected(0))
    refused("SETTING_CONFLICT")(WatermarkOptions().expected(Seq("a", "a")))
    refused("INVALID_DURATION")(WatermarkOptions().substreamTtl("0s"))
    refused("INVALID_CHOICE")(WatermarkOptions().onRestart("wait"))
  }
}
