package io.eventtide.spark.sql

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{col, count, expr, max}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.planning.WindowAggregate

class WindowFunctionSuite extends AnyFunSuite with SqlPlans {
  private val lag = Map("policy" -> "with_fixed_lag", "lag" -> "PT5S")
  private val agg = Seq(count("*").as("n"), max(col("v")).as("top"))
  private val device = Seq(col("device"))

  private def window(
      options: Map[String, String],
      columns: Map[String, Seq[Column]] = Map.empty,
      watermark: Map[String, String] = lag
  ): String =
    requested(
      "window",
      options + ("event_time" -> "ts"),
      watermark,
      Map("keys" -> device, "aggregates" -> agg) ++ columns
    )

  private val head = "eventtide_window(TABLE(events), ts, with_fixed_lag('5s'), key_by => device"
  private def written(more: String) =
    plan(s"SELECT * FROM $head, agg => 'count(*) AS n, max(v) AS top', $more)")

  test("windows of a size build the plan of Python's builder") {
    val minute = Map("kind" -> "tumbling", "size" -> "PT60S")
    assert(written("size => '1 minute'") == window(minute))
    assert(written("size => INTERVAL 1 MINUTE") == window(minute))
    val sliding = Map("kind" -> "sliding", "size" -> "PT60S", "slide" -> "PT1S")
    assert(written("size => '1m', slide => '1s'") == window(sliding))
    val growing = Map("kind" -> "cumulate", "size" -> "PT60S", "step" -> "PT10S")
    assert(written("size => '1m', step => '10s'") == window(growing))
  }

  test("calendar windows have a time zone") {
    val month = Map("kind" -> "tumbling", "size" -> "P1M", "time_zone" -> "Europe/Berlin")
    assert(written("size => '1 month', time_zone => 'Europe/Berlin'") == window(month))
    assert(written("size => INTERVAL 1 MONTH, time_zone => 'Europe/Berlin'") == window(month))
    val days = Map(
      "kind" -> "tumbling",
      "size" -> "P14D",
      "time_zone" -> "Europe/Berlin",
      "origin" -> "2024-03-31T22:00:00Z"
    )
    val zoned = "time_zone => 'Europe/Berlin'"
    assert(written(s"size => '2 weeks', $zoned, origin => '2024-04-01'") == window(days))
    assert(written(s"size => INTERVAL 14 DAYS, $zoned, origin => DATE'2024-04-01'") == window(days))
    val instant = "TIMESTAMP'2024-03-31 22:00:00 UTC'"
    assert(written(s"size => '14 days', $zoned, origin => $instant") == window(days))
  }

  test("sessions have one gap, or a gap by row") {
    val session = Map("kind" -> "session", "gap" -> "PT300S")
    assert(written("gap => '5m'") == window(session))
    assert(written("gap => INTERVAL 5 MINUTES") == window(session))
    val own = Map("kind" -> "session", "gap" -> "column", "maximum_duration" -> "PT3600S")
    val gap = "CASE WHEN v > 5 THEN INTERVAL 5 SECONDS ELSE INTERVAL 20 SECONDS END"
    val byRow = window(own, Map("gap" -> Seq(expr(gap))))
    assert(written(s"gap => $gap, maximum_duration => '1h'") == byRow)
    assert(written(s"gap => '$gap', maximum_duration => '1h'") == byRow)
  }

  test("count windows, rules, late rows and key time have Python's names") {
    val rows = Map("kind" -> "count", "rows" -> "100", "slide" -> "10")
    assert(written("rows => 100, slide => 10") == window(rows))
    val rules = Map(
      "kind" -> "tumbling",
      "size" -> "PT60S",
      "offset" -> "PT5S",
      "profile" -> "jet",
      "late_rule" -> "window_closed",
      "delay" -> "PT10S",
      "late" -> "count"
    )
    val more = "profile => 'jet', late_rule => 'window_closed', delay => '10s', late => 'count'"
    assert(written(s"size => '1m', offset => '5s', $more") == window(rules))
    val byKey = Map(
      "kind" -> "tumbling",
      "size" -> "PT60S",
      "scope" -> "key",
      "key_idle_timeout" -> "PT300S",
      "key_idle_clock" -> "event_time",
      "key_ttl" -> "PT3600S",
      "heartbeat" -> "PT30S",
      "max_rows_per_batch" -> "5"
    )
    val time = "scope => 'key', key_idle_timeout => '5m', key_idle_clock => 'event_time', " +
      "key_ttl => '1h', heartbeat => '30s', max_rows_per_batch => 5"
    assert(written(s"size => '1m', $time") == window(byKey))
    val clock = "scope => 'key', key_idle_clock => 'event_time', key_ttl => '1h'"
    val ofTtl = byKey - "key_idle_timeout" - "heartbeat" - "max_rows_per_batch"
    assert(written(s"size => '1m', $clock") == window(ofTtl))
    val groups = Map("kind" -> "tumbling", "size" -> "PT60S", "scope" -> "group")
    assert(written("size => '1m', scope => device") == window(groups, Map("scope" -> device)))
  }

  test("Storm's windows have a length and a slide, each in time or in rows") {
    val mixed = Map("kind" -> "storm", "length.time" -> "PT20S", "slide.rows" -> "3")
    assert(written("length => '20s', slide => 3") == window(mixed))
    val memory = Map("kind" -> "storm", "length.rows" -> "5", "slide.rows" -> "1")
    assert(
      written("length => 5, rows_in_memory => 100") == window(memory + ("rows_in_memory" -> "100"))
    )
    val framed =
      Map("kind" -> "sliding", "size" -> "PT20S", "slide" -> "PT5S", "profile" -> "storm")
    assert(written("length => '20s', slide => INTERVAL 5 SECONDS") == window(framed))
  }

  test("triggers are written as calls") {
    val emit = Map(
      "kind" -> "tumbling",
      "size" -> "PT60S",
      "triggers" -> "at_window_end,every,every_rows,when",
      "every" -> "PT10S",
      "every_rows" -> "1000",
      "late_updates" -> "true",
      "allowed_lateness" -> "PT60S"
    )
    val built = window(emit, Map("when" -> Seq(expr("n >= 100"))))
    val more = "late_updates => true, allowed_lateness => '1m'"
    val calls = "at_window_end, every('10s'), every_rows(1000), when(n >= 100)"
    assert(written(s"size => '1m', triggers => ($calls), $more") == built)
    val text = "at_window_end, every(INTERVAL 10 SECONDS), every_rows(1000), when(n >= 100)"
    assert(written(s"size => '1m', triggers => '$text', $more") == built)
    val one = Map("kind" -> "tumbling", "size" -> "PT60S", "triggers" -> "on_update")
    assert(written("size => '1m', triggers => 'on_update'") == window(one))
    assert(written("size => '1m', triggers => on_update, discarding => false") == window(one))
  }

  test("keys and aggregates are lists of expressions, and PARTITION BY has keys too") {
    val minute = Map("kind" -> "tumbling", "size" -> "PT60S")
    val start = "SELECT * FROM eventtide_window"
    val end = "event_time => 'ts', policy => with_fixed_lag('5s'), size => '1m'"
    val two = Map("keys" -> Seq(col("device"), expr("v % 2").as("odd")))
    for (
      keys <- Seq(
        "(device, v % 2 AS odd)",
        "'device, v % 2 AS odd'",
        "array('device', 'v % 2 AS odd')"
      )
    )
      assert(
        plan(
          s"$start(TABLE(events), $end, key_by => $keys, agg => struct(count(*) AS n, max(v) AS top))"
        ) ==
          window(minute, two),
        keys
      )
    assert(
      plan(
        s"$start(TABLE(events) PARTITION BY device, $end, agg => 'count(*) AS n, max(v) AS top')"
      ) ==
        window(minute)
    )
    val all = window(minute, Map("keys" -> Nil, "aggregates" -> Seq(count("*").as("n"))))
    val unnamed = Map("keys" -> Nil, "aggregates" -> Seq(count("*")))
    assert(plan(s"$start(TABLE(events), $end, agg => count(*))") == window(minute, unnamed))
    assert(plan(s"$start(TABLE(events), $end, agg => 'count(*) AS n')") == all)
  }

  test("a window uses the watermark of its rows, processing time, and a batch") {
    val end = "key_by => device, size => '1m', agg => 'count(*) AS n'"
    val marked = "SELECT * FROM eventtide_watermark(TABLE(events), ts, with_fixed_lag('5s'))"
    assert(plan(s"FROM eventtide_window(TABLE($marked), $end)").contains("PolicyWatermark"))
    assert(
      plan(s"FROM eventtide_window(TABLE(events), processing_time => true, $end)").contains(
        "_processing_time"
      )
    )
    val rows =
      spark.sql(s"SELECT window.start, device, n FROM eventtide_window(TABLE(history), ts, $end)")
    assert(
      rows.count() == 9 && rows.queryExecution.analyzed.exists(_.isInstanceOf[WindowAggregate])
    )
  }
}
