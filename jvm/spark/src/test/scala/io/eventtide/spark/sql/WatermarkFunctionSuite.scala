package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.functions.{col, upper}
import org.scalatest.funsuite.AnyFunSuite

class WatermarkFunctionSuite extends AnyFunSuite with SqlPlans {
  private val time = Map("event_time" -> "ts")

  private def watermark(
      options: Map[String, String],
      columns: Map[String, Seq[org.apache.spark.sql.Column]] = Map.empty
  ): String = requested("with_watermark", time, options, columns)

  private val lull =
    Map("policy" -> "limiting_lag_and_lull", "lag" -> "PT5S", "max_lull" -> "PT30S")

  test("a call builds the plan of Python's with_watermark") {
    val byDevice = watermark(lull, Map("substream" -> Seq(col("device"))))
    val calls = Seq(
      "TABLE(events), 'ts', 'limiting_lag_and_lull', lag => '5s', max_lull => '30s', substream => 'device'",
      "TABLE(events), ts, limiting_lag_and_lull('5s', '30 seconds'), substream => device",
      "substream => array('device'), policy => 'limiting_lag_and_lull(lag => ''5s'', max_lull => ''30s'')', " +
        "event_time => ts, data => TABLE(SELECT * FROM events)",
      "TABLE(events), 'ts', limiting_lag_and_lull, LAG => INTERVAL 5 SECONDS, max_lull => INTERVAL '0:30' MINUTE TO SECOND, substream => (device)"
    )
    calls.foreach(call =>
      assert(plan(s"SELECT * FROM eventtide_watermark($call)") == byDevice, call)
    )
  }

  test("policies are combined, given by substream, and decorated") {
    val lag = Map("policy" -> "with_fixed_lag", "lag" -> "PT60S")
    def in(i: Int, of: Map[String, String]) = of.map { case (key, value) => s"of.$i.$key" -> value }
    val combined = Map("policy" -> "max_of") ++ in(0, lull) ++
      in(1, Map("policy" -> "limiting_real_time_lag", "lag" -> "PT3600S"))
    val policy =
      "max_of(limiting_lag_and_lull('5s', max_lull => '30s'), limiting_real_time_lag('1h'))"
    assert(plan(s"FROM eventtide_watermark(TABLE(events), ts, $policy)") == watermark(combined))

    val rules = Map("policy" -> "by_substream") ++ in(0, lag + ("substream" -> "eu-*")) ++
      in(1, lull + ("substream" -> "*"))
    val byDevice = watermark(rules, Map("substream" -> Seq(upper(col("device")))))
    val pairs = "'eu-*', with_fixed_lag('1m'), '*', limiting_lag_and_lull('5s', '30s')"
    for (rules <- Seq(s"by_substream($pairs)", s"by_substream(map($pairs))")) {
      val call = s"eventtide_watermark(TABLE(events), ts, $rules, substream => upper(device))"
      assert(plan(s"FROM $call") == byDevice)
    }

    val decorated = lag ++ Map(
      "decorators.0" -> "throttle_by_frame",
      "decorators.0.size" -> "PT1S",
      "decorators.1" -> "guard_future",
      "decorators.1.max_ahead" -> "PT3600S",
      "decorators.1.on" -> "late"
    )
    for (
      list <- Seq(
        "(throttle_by_frame('1s'), guard_future('1h', 'late'))",
        "'throttle_by_frame(size => ''1s''), guard_future(''1h'', ''late'')'"
      )
    ) {
      val call =
        s"eventtide_watermark(TABLE(events), ts, with_fixed_lag('1m'), decorators => $list)"
      assert(plan(s"FROM $call") == watermark(decorated))
    }
  }

  test("the other options have Python's names") {
    val options = lull ++ Map(
      "substream_idle_timeout" -> "PT60S",
      "expected.0" -> "north",
      "expected.1" -> "south",
      "max_substreams" -> "500",
      "substream_ttl" -> "never",
      "max_clock_step" -> "PT600S",
      "on_restart" -> "resume",
      "name" -> "orders"
    )
    val call =
      """eventtide_watermark(TABLE(events), ts, limiting_lag_and_lull('5s', '30s'),
        |  substream => device, substream_idle_timeout => '1m', expected => array('north', 'south'),
        |  max_substreams => 500, substream_ttl => 'never', max_clock_step => INTERVAL 10 MINUTES,
        |  on_restart => 'resume', name => 'orders')""".stripMargin
    val built = watermark(options, Map("substream" -> Seq(col("device"))))
    assert(plan(s"FROM $call") == built)
    val counted = watermark(lull + ("expected" -> "3"), Map("substream" -> Seq(col("device"))))
    val expected = "limiting_lag_and_lull('5s', '30s'), substream => device, expected => 3"
    assert(plan(s"FROM eventtide_watermark(TABLE(events), ts, $expected)") == counted)
  }

  test("parameters and variables of a statement are values, and NULL is the default") {
    spark.sql("DECLARE OR REPLACE VARIABLE patience STRING DEFAULT '30s'")
    spark.sql("DECLARE OR REPLACE VARIABLE unset STRING")
    val call =
      "eventtide_watermark(TABLE(events), ts, 'limiting_lag_and_lull', lag => :lag, max_lull => patience, name => NULL, expected => unset)"
    assert(plan(s"FROM $call", Map("lag" -> "5s")) == watermark(lull))
  }

  test("ingestion time builds the plan of Python's with_ingestion_time") {
    val policy = Map("policy" -> "with_ingestion_time")
    val built = requested("with_ingestion_time", Map("into" -> "ingested_at"), policy, Map.empty)
    assert(plan("FROM eventtide_ingestion_time(TABLE(events))") == built)
    val throttled = policy ++ Map("decorators.0" -> "emit_every", "decorators.0.interval" -> "PT1S")
    val named = requested("with_ingestion_time", Map("into" -> "seen"), throttled, Map.empty)
    val call = "eventtide_ingestion_time(TABLE(events), seen, decorators => emit_every('1s'))"
    assert(plan(s"FROM $call") == named)
  }

  test("a batch passes unchanged, and a view and a WITH query keep the call") {
    val batch = "eventtide_watermark(TABLE(history), ts, with_fixed_lag('5s'))"
    assert(spark.sql(s"FROM $batch").count() == 9)
    spark.sql(
      s"CREATE OR REPLACE TEMP VIEW marked AS SELECT * FROM eventtide_watermark(TABLE(events), ts, with_fixed_lag('5s'))"
    )
    def nodes(sql: String) = spark.sql(sql).queryExecution.analyzed.collect {
      case node: EventTimeWatermark => node.nodeId
    }
    assert(nodes("SELECT * FROM marked").length == 1)
    assert(nodes("WITH w AS (SELECT * FROM marked) SELECT * FROM w").length == 1)
    assert(nodes("SELECT a.v FROM marked a JOIN marked b ON a.v = b.v").distinct.length == 2)
    assert(
      nodes(
        "SELECT t.b FROM eventtide_watermark(TABLE(events), ts, with_fixed_lag('5s')) AS t(a, b, c)"
      ).length == 1
    )
  }

  test("the identity of a call is the same however often its plan is analyzed") {
    val parsed = spark.sessionState.sqlParser.parsePlan(
      "SELECT * FROM eventtide_watermark(TABLE(events), ts, with_fixed_lag('5s'))"
    )
    def id() = spark.sessionState.executePlan(parsed).analyzed.collectFirst {
      case node: EventTimeWatermark => node.nodeId
    }
    assert(id().isDefined && id() == id())
  }
}
