package io.eventtide.spark.options

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.EventtideException

class SessionDefaultsSuite extends AnyFunSuite {
  private val tumbling = Map("kind" -> "tumbling", "size" -> "PT10S")

  private def window(options: Map[String, String], session: (String, String)*) =
    SessionDefaults.window(options, session.toMap, byClock = false)

  private def watermark(session: (String, String)*) =
    SessionDefaults.watermark(Map("policy" -> "with_fixed_lag"), session.toMap)

  private def refused(session: (String, String)) = intercept[EventtideException] {
    window(tumbling, session): Unit
    watermark(session): Unit
  }

  test("an option that is not given has the session's value, another keeps its own") {
    val session = Seq("spark.eventtide.delay" -> "5s", "spark.eventtide.lateRule" -> "frame_closed")
    assert(
      window(
        tumbling,
        session: _*
      ) == tumbling + ("delay" -> "PT5S") + ("late_rule" -> "frame_closed")
    )
    val own = tumbling + ("delay" -> "PT0S") + ("late_rule" -> "window_closed")
    assert(window(own, session: _*) == own)
    assert(window(tumbling, "spark.sql.shuffle.partitions" -> "3") == tumbling)
  }

  test("settings of a running query are known") {
    assert(window(tumbling, "spark.eventtide.warn.stuckFor" -> "5m") == tumbling)
  }

  test("durations are those of Spark and of ISO 8601") {
    Seq("90s", "90000ms", "PT1M30S", " 90s ").foreach { text =>
      assert(
        watermark("spark.eventtide.substreamIdleTimeout" -> text)(
          "substream_idle_timeout"
        ) == "PT1M30S"
      )
    }
  }

  test("a window without late rows has no settings of them") {
    val session = Map("spark.eventtide.delay" -> "5s", "spark.eventtide.keyTtl" -> "1d")
    val found = SessionDefaults.window(tumbling, session, byClock = true)
    assert(found == tumbling + ("key_ttl" -> "PT24H"))
  }

  test("a profile that is given keeps its late rule") {
    val own = tumbling + ("profile" -> "voltsp")
    assert(window(own, "spark.eventtide.lateRule" -> "frame_closed") == own)
    val of = window(tumbling, "spark.eventtide.lateRule" -> "frame_closed")
    assert(of == tumbling + ("late_rule" -> "frame_closed"))
  }

  test("a kind of window without the setting does not get it") {
    val counts = Map("kind" -> "count", "rows" -> "3")
    assert(window(counts, "spark.eventtide.delay" -> "5s") == counts)
    assert(window(counts, "spark.eventtide.keyTtl" -> "1d") == counts + ("key_ttl" -> "PT24H"))
  }

  test("a key that no setting has is refused, also that of a setting without a default") {
    Seq("slide", "late", "lateTo", "lateretention", "late_retention").foreach { name =>
      val key = s"spark.eventtide.$name"
      val parameters = refused(key -> "5s").getMessageParameters
      assert(parameters.get("option") == key)
      assert(parameters.get("allowed").split(", ").contains("spark.eventtide.lateRetention"))
    }
  }

  test("a wrong value is refused under the name of the session's key") {
    Seq(
      "spark.eventtide.delay" -> "soon",
      "spark.eventtide.delay" -> "300",
      "spark.eventtide.heartbeat" -> "5ms",
      "spark.eventtide.lateRetention" -> "-5s",
      "spark.eventtide.lateRule" -> "drop",
      "spark.eventtide.profile" -> "beam",
      "spark.eventtide.maxSubstreams" -> "0",
      "spark.eventtide.onRestart" -> "hold"
    ).foreach { case (key, value) =>
      val parameters = refused(key -> value).getMessageParameters
      assert(parameters.get("option") == key)
    }
  }
}
