package io.eventtide.spark

import java.time.{Duration, Instant, LocalDateTime, Period}

import org.apache.spark.sql.functions.{col, expr}
import org.scalatest.funsuite.AnyFunSuite

/** The windows of tests/border/window_options.json in Scala: equal options, and so equal plans. */
class WindowBorderSuite extends AnyFunSuite {
  private def window = Eventtide.window()
  private def minute = window.tumbling("1m")
  private def updated = minute.allowedLateness("1m")

  private val sizes = Seq(
    minute,
    window.tumbling(Duration.ofMillis(250)),
    window.sliding("1m", "1s"),
    window.sliding(Duration.ofMinutes(1), Duration.ofSeconds(60)),
    window.cumulate("1 day", "1h"),
    window.tumbling("2 weeks"),
    window.tumbling("1 day").timeZone("Europe/Berlin"),
    window.tumbling("2 weeks").timeZone("UTC"),
    window.timeZone("UTC").tumbling(Period.ofMonths(1)),
    window.sliding(Period.ofYears(1), Period.ofMonths(3)).timeZone("UTC"),
    window.sliding("7 days", "1 day").timeZone("America/New_York"),
    window.cumulate("1 week", "1 day").timeZone("UTC"),
    minute.offset("5s"),
    minute.origin("2024-01-01T06:00:00+01:00"),
    minute.origin(Instant.parse("2024-01-01T00:00:00.250Z")),
    window.tumbling("1 year").origin("2024-04-01").timeZone("Europe/Berlin")
  )

  private val closing = Seq(
    minute.profile("eventtide"),
    minute.profile("jet"),
    minute.profile("storm"),
    minute.profile("voltsp"),
    minute.profile("spark"),
    minute.profile("flink"),
    minute.lateRule("behind_watermark"),
    minute.lateRule("frame_closed"),
    minute.lateRule("window_closed"),
    minute.delay("5s"),
    minute.allowedLateness(Duration.ZERO),
    minute.delay(Duration.ofSeconds(5)).allowedLateness("1h"),
    minute.late("log"),
    minute.late("count"),
    minute.late("fail"),
    minute.lateTo("s3://bucket/late"),
    minute.lateRetention("90d")
  )

  private val panes = Seq(
    minute.emit(WindowTrigger.every("10s")),
    minute.emit(WindowTrigger.everyRows(1000)),
    minute.emit(WindowTrigger.every("10s"), WindowTrigger.everyRows(1)).discarding(),
    updated.lateUpdates(),
    updated.emit(WindowTrigger.onUpdate).discarding().lateUpdates()
  )

  private val unframed = Seq(
    window.session("5m"),
    window.session("5m").maximumDuration("1h"),
    window.session(Duration.ofMinutes(5)).maximumDuration("5m").touching("separate"),
    window.session(col("gap")),
    window.session(col("gap")).maximumDuration(Duration.ofHours(1)),
    window.session("5m").touching("merge").delay("5s").lateRule("behind_watermark"),
    window.byCount(100),
    window.byCount(100, 10),
    window.byCount(1000000, 1),
    window.byCount(1).keyIdleTimeout("5m")
  )

  private val keys = Seq(
    minute.keyBy("site").watermarkScope("key"),
    minute.watermarkScope("global"),
    minute.keyBy("device").watermarkScope(col("site")),
    minute.keyBy(col("device"), col("site")).watermarkScope(Seq(col("site")): _*),
    minute.keyIdleTimeout("5m"),
    minute.delay("5s").keyIdleTimeout(Duration.ofMinutes(5), "event_time"),
    minute.keyBy("site").watermarkScope("key").keyTtl("0s"),
    minute.keyBy("site").watermarkScope("key").maxRowsPerBatch(1),
    minute.keyIdleTimeout("1s").keyTtl("30 days").heartbeat("100ms"),
    window
      .session("5m")
      .keyBy("site")
      .watermarkScope("key")
      .keyIdleTimeout("5m")
      .profile("voltsp"),
    window.processingTime().tumbling("1m"),
    window.processingTime().session("5m").keyIdleTimeout("5m")
  )

  private val triggers = Seq(
    minute.emit(WindowTrigger.atWindowEnd),
    minute.emit(WindowTrigger.onUpdate),
    minute.emit(WindowTrigger.when("n >= 1000")),
    minute.emit(
      WindowTrigger.every(Duration.ofSeconds(10)),
      WindowTrigger.everyRows(1000),
      WindowTrigger.atWindowEnd
    ),
    window.byCount(100).emit(WindowTrigger.atWindowEnd, WindowTrigger.onUpdate),
    window.byCount(100, 10).emit(WindowTrigger.every("10s"))
  )

  test("every window of the border has the same options in Scala") {
    // A handler of late rows is a Python function.
    val cases =
      BorderFiles
        .cases("window_options.json")
        .filterNot(_.get("written").asText.contains("on_late"))
    val inScala = sizes ++ closing ++ panes ++ unframed ++ keys ++ triggers
    assert(inScala.length == cases.length)
    inScala.zip(cases).foreach { case (made, one) =>
      val written = one.get("written").asText
      assert(made.request.toOptions == BorderFiles.texts(one.get("options")), written)
    }
  }

  test("columns of a window have the names of their lists") {
    val lists = window
      .eventTime("ts", WatermarkPolicy.maxEventTime, WatermarkOptions().substream("site"))
      .keyBy("device", "site")
      .watermarkScope(col("site"))
      .session(col("gap"))
      .emit(WindowTrigger.when(expr("n > 1")))
      .agg(expr("count(*)").as("n"))
      .request
      .columns
    assert(lists.keySet == Set("substream", "keys", "scope", "gap", "when", "aggregates"))
    assert(lists("keys").map(_.toString) == Seq("device", "site"))
  }

  test("a builder does not change, and a later call replaces an earlier one") {
    val first = minute.delay("5s")
    val second = first.delay("6s")
    assert(first.request.options("delay") == "PT5S" && second.request.options("delay") == "PT6S")
    val again = minute.emit(WindowTrigger.every("1s"), WindowTrigger.when("n > 1"))
    val replaced = again.emit(WindowTrigger.everyRows(2)).request
    assert(replaced.options.get("every").isEmpty && replaced.columns("when").isEmpty)
    val timed = minute.eventTime("ts", WatermarkPolicy.maxEventTime).eventTime("ts").request
    assert(timed.watermark.isEmpty && timed.eventTime.contains("ts"))
    val scopes = minute.watermarkScope(col("site")).watermarkScope("key").request
    assert(scopes.options("scope") == "key" && scopes.columns("scope").isEmpty)
  }

  test("a local origin is a time of the time zone") {
    val local = window.tumbling("1 day").origin(LocalDateTime.of(2024, 4, 1, 0, 0))
    val options = local.timeZone("Europe/Berlin").request.toOptions
    assert(options("origin") == "2024-03-31T22:00:00Z")
    val error = intercept[EventtideException](local.request.toOptions)
    assert(error.condition == "SETTING_CONFLICT" && error.problem.contains("has no time zone"))
    assert(error.fix.startsWith("Write '2024-04-01T00:00Z'"))
    assert(
      window.tumbling("1 day").origin("2024-04-01T00:00Z").request.toOptions("origin") ==
        "2024-04-01T00:00:00Z"
    )
  }

  test("every origin of the border is read or refused as in Python") {
    for (one <- BorderFiles.cases("origins.json")) {
      val zone = Option(one.get("zone")).map(_.asText)
      val written = window.tumbling("1 day")
      def option = {
        val origin = written.origin(one.get("text").asText)
        zone.foldLeft(origin)(_.timeZone(_)).request.toOptions("origin")
      }
      Option(one.get("option")) match {
        case Some(expected) => assert(option == expected.asText, one)
        case None =>
          val error = intercept[EventtideException](option)
          assert(error.getMessageParameters.get("option") == "origin", one)
      }
    }
  }

  test("a wrong argument is refused by its method, with its name and value") {
    val refused = Seq[(String, () => Any)](
      "INVALID_DURATION" -> (() => window.tumbling("soon")),
      "INVALID_DURATION" -> (() => window.tumbling("1us")),
      "INVALID_DURATION" -> (() => window.tumbling("1 month 1 day")),
      "INVALID_DURATION" -> (() => window.session("0s")),
      "INVALID_DURATION" -> (() => window.heartbeat("10ms")),
      "INVALID_DURATION" -> (() => window.lateRetention("0s")),
      "INVALID_DURATION" -> (() => window.keyTtl(Duration.ofHours(-1))),
      "INVALID_COUNT" -> (() => window.byCount(0)),
      "INVALID_COUNT" -> (() => window.byCount(10, 0)),
      "INVALID_COUNT" -> (() => window.maxRowsPerBatch(0)),
      "INVALID_CHOICE" -> (() => window.profile("Jet")),
      "INVALID_CHOICE" -> (() => window.lateRule("closed")),
      "INVALID_CHOICE" -> (() => window.late("drop")),
      "INVALID_CHOICE" -> (() => window.lateTo("")),
      "INVALID_CHOICE" -> (() => window.timeZone("Berlin")),
      "INVALID_CHOICE" -> (() => window.origin("noon")),
      "INVALID_CHOICE" -> (() => window.origin(Instant.MAX)),
      "INVALID_CHOICE" -> (() => window.origin(null: String)),
      "INVALID_CHOICE" -> (() => window.profile(null)),
      "INVALID_CHOICE" -> (() => window.late(null)),
      "INVALID_CHOICE" -> (() => window.lateTo(null)),
      "INVALID_CHOICE" -> (() => window.timeZone(null)),
      "INVALID_DURATION" -> (() => window.keyTtl(Duration.ofSeconds(Long.MinValue))),
      "INVALID_CHOICE" -> (() => window.watermarkScope("keys")),
      "INVALID_CHOICE" -> (() => window.touching("both")),
      "INVALID_CHOICE" -> (() => window.keyIdleTimeout("5m", "wall")),
      "SETTING_CONFLICT" -> (() => minute.byCount(3)),
      "SETTING_CONFLICT" -> (() => window.emit()),
      "SETTING_CONFLICT" -> (() => window.emit(WindowTrigger.onUpdate, WindowTrigger.onUpdate)),
      "INVALID_DURATION" -> (() => WindowTrigger.every("0s")),
      "INVALID_COUNT" -> (() => WindowTrigger.everyRows(0)),
      "MISSING_OPTION" -> (() => window.agg()),
      "MISSING_OPTION" -> (() => window.keyBy(Seq.empty[org.apache.spark.sql.Column]: _*)),
      "MISSING_OPTION" -> (() => minute.agg(expr("count(*)")).results)
    )
    refused.zipWithIndex.foreach { case ((condition, make), i) =>
      val error = intercept[EventtideException](make())
      assert(error.condition == condition, s"case $i: ${error.getMessage}")
    }
  }
}
