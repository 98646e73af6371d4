package io.eventtide.spark.sql

import org.apache.spark.SPARK_VERSION
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.options.SettingsTable

class RefusedCallSuite extends AnyFunSuite with SqlPlans {
  private val mark = "SELECT * FROM eventtide_watermark"
  private val window = "SELECT *\nFROM eventtide_window"
  private val rest = "with_fixed_lag('5s'), agg => 'count(*) AS n', size => '1m'"

  private val named =
    "event_time => ts, policy => with_fixed_lag('5s'), size => '1m', agg => count(*)"

  /** Calls with an error: the condition, and the part of the text that it points at. */
  private val refused = Seq(
    s"$mark(TABLE(events), ts, 'with_fixed_lag', lag => '5 sek')" ->
      ("INVALID_DURATION" -> "lag => '5 sek'"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5 sek'))" -> ("INVALID_DURATION" -> "'5 sek'"),
    s"$mark(TABLE(events), ts, 'with_fixed_lag', lag => 5)" -> ("SQL_ARGUMENT_TYPE" -> "lag => 5"),
    s"$mark(TABLE(events), ts, 'with_fixed_lag', lagg => '5s')" ->
      ("UNKNOWN_OPTION" -> "lagg => '5s'"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s', max_lull => '1s'))" ->
      ("UNKNOWN_OPTION" -> "max_lull => '1s'"),
    s"$mark(TABLE(events), ts, 'fixed_lag', lag => '5s')" -> ("INVALID_CHOICE" -> "'fixed_lag'"),
    s"$mark(TABLE(events), ts, policy => fixed_lag('5s'))" ->
      ("INVALID_CHOICE" -> "policy => fixed_lag('5s')"),
    s"$mark(TABLE(events), tz, with_fixed_lag('5s'))" -> ("UNKNOWN_COLUMN" -> "tz"),
    s"$mark(TABLE(events), event_time => device, policy => with_fixed_lag('5s'))" ->
      ("EVENT_TIME_TYPE" -> "event_time => device"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), substream => devise)" ->
      ("SUBSTREAM_UNRESOLVED" -> "substream => devise"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), substream => x -> x)" ->
      ("INVALID_CHOICE" -> "substream => x -> x"),
    s"$window(TABLE(events), ts, $rest, key_by => CAST(x -> x AS INT))" ->
      ("INVALID_CHOICE" -> "key_by => CAST(x -> x AS INT)"),
    s"$window(TABLE(events), ts, $rest, key_by => 'device, x -> x')" ->
      ("INVALID_CHOICE" -> "key_by => 'device, x -> x'"),
    s"$window(TABLE(events), ts, $rest, triggers => when(x -> x))" ->
      ("INVALID_CHOICE" -> "x -> x"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), event_time => ts)" ->
      ("SQL_ARGUMENT_TWICE" -> "event_time => ts"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), 'device')" ->
      ("SQL_ARGUMENT_WITHOUT_NAME" -> "'device'"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), max_substreams => 0)" ->
      ("INVALID_COUNT" -> "max_substreams => 0"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), on_restart => 'wait')" ->
      ("INVALID_CHOICE" -> "on_restart => 'wait'"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), expected => 'north')" ->
      ("SQL_ARGUMENT_TYPE" -> "expected => 'north'"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), max_substreams => rand())" ->
      ("SQL_ARGUMENT_NOT_CONSTANT" -> "max_substreams => rand()"),
    s"$mark(TABLE(events), ts, 'with_fixed_lag(', lag => '5s')" ->
      ("SQL_TEXT_UNREADABLE" -> "'with_fixed_lag('"),
    s"$mark(TABLE(events), ts, min_of())" -> ("SQL_CALL" -> "min_of()"),
    s"$mark(TABLE(events), ts, 5 + 5)" -> ("SQL_CALL" -> "5 + 5"),
    s"$mark(TABLE(events), ts, with_fixed_lag('5s'), decorators => throttle('1s'))" ->
      ("INVALID_CHOICE" -> "decorators => throttle('1s')"),
    s"$window(TABLE(events), ts, $rest, step => '10s', slide => '5s')" ->
      ("SETTING_CONFLICT" -> "slide => '5s'"),
    s"$window(TABLE(events), ts, $rest, gap => '5m')" -> ("SETTING_CONFLICT" -> "size => '1m'"),
    s"$window(TABLE(events), ts, $rest, length => '20s', slide => '10s')" ->
      ("SETTING_CONFLICT" -> "size => '1m'"),
    s"$window(TABLE(events), ts, ${rest.replace("size", "length")}, profile => 'jet')" ->
      ("SETTING_CONFLICT" -> "profile => 'jet'"),
    s"$window(TABLE(events), ts, $rest, triggers => every_rows(CAST(NULL AS INT)))" ->
      ("SQL_ARGUMENT_TYPE" -> "CAST(NULL AS INT)"),
    s"$window(TABLE(events), ts, $rest, slide => '7s')" -> ("WINDOW_NOT_MULTIPLE" -> "size => '1m'"),
    s"$window(TABLE(events), ts, $rest, touching => 'merge')" ->
      ("UNKNOWN_OPTION" -> "touching => 'merge'"),
    s"$window(TABLE(events), ts, $rest, delay => INTERVAL '-5' SECOND)" ->
      ("INVALID_DURATION" -> "delay => INTERVAL '-5' SECOND"),
    s"$window(TABLE(events), ts, $rest, key_by => rand())" ->
      ("KEY_NOT_DETERMINISTIC" -> "key_by => rand()"),
    s"$window(TABLE(events), ts, $rest, triggers => at_end)" ->
      ("INVALID_CHOICE" -> "triggers => at_end"),
    s"$window(TABLE(events), ts, $rest, triggers => every())" ->
      ("SQL_CALL" -> "triggers => every()"),
    s"$window(TABLE(events), ts, $rest, triggers => when(m > 5))" ->
      ("CONDITION_UNRESOLVED" -> "triggers => when(m > 5)"),
    s"$window(TABLE(events), ts, $rest, late => 'keep')" -> ("INVALID_CHOICE" -> "late => 'keep'"),
    s"$window(TABLE(events), ts, $rest, origin => 'monday')" ->
      ("INVALID_CHOICE" -> "origin => 'monday'"),
    s"$window(TABLE(events), ts, $rest, origin => '2024-01-01')" ->
      ("SETTING_CONFLICT" -> "origin => '2024-01-01'"),
    s"$window(TABLE(events), ts, $rest, origin => '2024-01-01', time_zone => 'Berlin')" ->
      ("INVALID_CHOICE" -> "time_zone => 'Berlin'"),
    s"$window(TABLE(events), ts, $rest, key_idle_clock => 'event_time')" ->
      ("SETTING_CONFLICT" -> "key_idle_clock => 'event_time'"),
    s"$window(TABLE(events), ts, $rest, processing_time => true)" ->
      ("SQL_PROCESSING_TIME" -> "ts"),
    s"$window(TABLE(events), ts, with_fixed_lag('5s'), size => '1m', agg => device)" ->
      ("NOT_AN_AGGREGATE" -> "agg => device"),
    s"$window(TABLE(events), ts, with_fixed_lag('5s'), gap => v, agg => count(*))" ->
      ("GAP_TYPE" -> "gap => v"),
    s"$window(TABLE(events) PARTITION BY device, key_by => v, $named)" ->
      ("SQL_KEYS_TWICE" -> "key_by => v"),
    s"$mark(TABLE(events) PARTITION BY device, event_time => ts)" ->
      ("SQL_TABLE_CLAUSE" -> "TABLE(events) PARTITION BY device"),
    s"$window(TABLE(events) PARTITION BY device ORDER BY ts, $named)" ->
      ("SQL_TABLE_CLAUSE" -> "TABLE(events) PARTITION BY device ORDER BY ts"),
    s"$mark(events, ts, with_fixed_lag('5s'))" -> ("SQL_TABLE_ARGUMENT" -> "events"),
    s"$window(TABLE(events), ts, $rest, key_by => (device, devise))" ->
      ("WINDOW_COLUMN_UNKNOWN" -> "key_by => (device, devise)"),
    s"$window(TABLE(events), $named, key_by => device, delay => '1s'"
      .replace("count(*)", "'max(w)'") + ")" ->
      ("WINDOW_COLUMN_UNKNOWN" -> "agg => 'max(w)'"),
    "SELECT * FROM eventtide_open_windows(TABLE(events), '/data/checkpoint')" ->
      ("SQL_WITHOUT_WINDOW" -> "TABLE(events)"),
    "SELECT * FROM eventtide_ingestion_time(TABLE(events), v)" -> ("COLUMN_EXISTS" -> "v")
  )

  refused.foreach { case (sql, (condition, place)) =>
    test(s"$condition at: ${sql.linesIterator.mkString(" ").drop(9)}") {
      val error = refusal(sql)
      assert(error.getCondition == condition, error.getMessage)
      assert(error.getQueryContext.map(_.fragment).toSeq == Seq(place))
      assert("<\\w+>".r.findFirstIn(error.getMessage).isEmpty) // PySpark fails without a value
    }
  }

  /** Errors about the whole call. */
  private val whole = Seq(
    s"$mark(TABLE(events), ts)" -> "MISSING_OPTION",
    s"$mark(TABLE(events), policy => with_fixed_lag('5s'))" -> "MISSING_OPTION",
    s"$mark(TABLE(events), ts, lag => '5s')" -> "MISSING_OPTION",
    s"$mark(TABLE(events), ts, 'with_fixed_lag')" -> "MISSING_OPTION",
    s"$window(TABLE(events), policy => $rest)" -> "MISSING_OPTION",
    s"$window(TABLE(events), ts, with_fixed_lag('5s'), agg => count(*))" -> "MISSING_OPTION",
    s"$window(TABLE(events), ts, with_fixed_lag('5s'), size => '1m')" -> "MISSING_OPTION",
    s"$window(TABLE(events), ts, $rest, discarding => true)" -> "SETTING_CONFLICT",
    s"$window(TABLE(events), ts, $rest, late_updates => true)" -> "SETTING_CONFLICT",
    "SELECT * FROM eventtide_late(window => 0)" -> "MISSING_OPTION"
  )

  whole.foreach { case (sql, condition) =>
    test(s"$condition of the call: ${sql.linesIterator.mkString(" ").drop(9)}") {
      val error = refusal(sql)
      assert(error.getCondition == condition, error.getMessage)
      val shown = error.getQueryContext.head.fragment
      assert(shown.startsWith("eventtide_"), shown)
    }
  }

  test("a parameter that is NULL has its default, and late updates need no trigger") {
    val policy = "limiting_lag_and_delay('5s', '1m', samples => CAST(NULL AS INT))"
    assert(spark.sql(s"$mark(TABLE(events), ts, $policy)").columns.contains("ts"))
    val updates = "allowed_lateness => '1h', late_updates => true"
    val found = spark.sql(s"$window(TABLE(events), ts, $rest, $updates)")
    assert(found.columns.toSeq.containsSlice(Seq("pane_index", "pane_timing", "is_last")))
  }

  test("the word STREAM needs a stream") {
    assume(!SPARK_VERSION.startsWith("4.1")) // which does not have the word before a call
    val batch = "eventtide_watermark(TABLE(history), ts, with_fixed_lag('5s'))"
    for (call <- Seq(batch, "eventtide_progress('q')"))
      assert(refusal(s"SELECT * FROM STREAM $call").getCondition == "SQL_NOT_A_STREAM")
    val stream = s"SELECT * FROM STREAM ${batch.replace("history", "events")}"
    assert(spark.sql(stream).isStreaming)
  }

  test("each setting refuses a value of another type, at its place") {
    val plain = (SettingsTable.watermark ++ WindowFunction.settings)
      .map(_.option)
      .distinct
      .filterNot(WindowArguments.Special)
    for (option <- plain) {
      val others = named.replace(s"$option => '1m', ", "")
      val error = refusal(s"$window(TABLE(events), $others, $option => 1.5D)")
      assert(error.getCondition == "SQL_ARGUMENT_TYPE", option)
      assert(error.getQueryContext.head.fragment == s"$option => 1.5D")
    }
  }

  test("the message shows the line and the place, also within a view") {
    val error = refusal(
      s"$window(TABLE(events), ts, with_fixed_lag('5 sek'),\n  size => '1m', agg => count(*))"
    )
    assert(error.getMessage.contains("'5 sek', which has the unknown unit 'sek'"))
    assert(error.getMessage.contains("== SQL (line 2, position 57) =="), error.getMessage)
    assert(error.getMessage.contains("^^^^^^^"))
    spark.sql(s"CREATE OR REPLACE TEMP VIEW odd AS $mark(TABLE(events), ts, with_fixed_lag('5s'))")
    val twice = refusal(s"$mark(TABLE(odd), ts, with_fixed_lag('5s'))")
    assert(twice.getCondition == "DUPLICATE_WATERMARK")
    assert(twice.getQueryContext.head.fragment == "ts")
  }
}
