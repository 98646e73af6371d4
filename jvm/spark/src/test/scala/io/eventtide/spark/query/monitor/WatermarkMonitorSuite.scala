package io.eventtide.spark.query.monitor

import scala.collection.mutable

import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.disorder.{DisorderHistogram, Drift}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.latelog.BatchLateness

class WatermarkMonitorSuite extends AnyFunSuite {

  private class Watched extends WatermarkMonitor("query 'q'", MonitorThresholds(3, 60000000, 0.1)) {
    val said: mutable.Buffer[String] = mutable.Buffer.empty
    override protected def warn(text: String): Unit = said += text

    private var nowMicros = 0L

    def batch(ideal: Long, late: BatchLateness = BatchLateness.None, took: Int = 20): Unit = {
      nowMicros += took * 1000000L
      ended(nowMicros, WatermarkReport.beforeFirstBatch(0), Some(ideal), late)
    }
  }

  private def late(rows: Int, onTime: Int, by: Long*): BatchLateness =
    BatchLateness(onTime, rows, Watched.lateness(by))

  private object Watched {
    def lateness(by: Seq[Long]) = {
      val rows = new DisorderHistogram
      by.foreach(rows.add)
      rows
    }
  }

  test("a watermark that stands still is told once, and again when it has moved") {
    val watch = new Watched
    Seq(5L, 5L, 5L).foreach(watch.batch(_))
    assert(watch.said.isEmpty)
    Seq(5L, 5L, 5L, 5L, 5L).foreach(watch.batch(_))
    assert(
      watch.said.toSeq == Seq(
        "The watermark of query 'q' has not moved for 3 batches with rows, which is 1m. " +
          WatermarkReport.beforeFirstBatch(0).blame
      )
    )
    Seq(6L, 6L, 6L, 6L).foreach(watch.batch(_))
    assert(watch.said.length == 2)
  }

  test("many short batches are not enough, nor are a few long ones") {
    val watch = new Watched
    (1 to 60).foreach(_ => watch.batch(5, took = 1))
    assert(watch.said.isEmpty)
    watch.batch(5, took = 1)
    assert(watch.said.length == 1)
    Seq(6L, 6L, 6L).foreach(watch.batch(_, took = 3600))
    assert(watch.said.length == 1)
    watch.batch(6, took = 3600)
    assert(watch.said.length == 2)
  }

  test("a change of disorder is told once, and again when it has gone") {
    val watch = new Watched
    val drift = Drift(0.01, lastHour = 540000000, week = 120000000)
    (1 to 3).foreach(_ => watch.drifted(Seq("input 0" -> drift)))
    assert(
      watch.said.toSeq == Seq(
        "The disorder of input 0 of query 'q' has risen: for 1% late rows, the last hour needs a lag " +
          "of 9m, the week before 2m."
      )
    )
    watch.drifted(Nil)
    watch.drifted(Seq("input 0" -> drift.copy(lastHour = 30000000)))
    assert(watch.said.length == 2 && watch.said.last.contains("has fallen"))
  }

  test("late rows are told with the lag that would have kept them, once until they are fewer") {
    val watch = new Watched
    val few = late(1, 99, 1000000)
    val many = late(2, 8, 1000000, 1000000)
    (1 to 3).foreach(i => watch.batch(i, few))
    assert(watch.said.isEmpty)
    (4 to 9).foreach(i => watch.batch(i, many))
    assert(watch.said.length == 1)
    val Told =
      ("Of the rows of query 'q' in its last 3 batches, 20 % came too late for their windows: " +
        "a lag longer by 1s would have kept them\\.").r
    assert(Told.matches(watch.said.head), watch.said.head)
    (10 to 12).foreach(i => watch.batch(i, few))
    (13 to 15).foreach(i => watch.batch(i, late(10, 7, Seq.fill(9)(1000000L) :+ 60000000L: _*)))
    assert(watch.said.length == 2)
    val Both =
      ".* a lag longer by 1s .*would have kept nine of ten, one longer by 1m all of them\\.".r
    assert(Both.matches(watch.said(1)), watch.said(1))
  }

  test("settings come from the session, and what is none of them is refused") {
    val conf = new SQLConf
    assert(MonitorThresholds.of(conf) == MonitorThresholds(100, 300000000, 0.01))
    conf.setConfString(MonitorThresholds.StuckBatches, "7")
    conf.setConfString(MonitorThresholds.StuckFor, "90s")
    conf.setConfString(MonitorThresholds.LateShare, "1")
    assert(MonitorThresholds.of(conf) == MonitorThresholds(7, 90000000, 1))
    val wrong = Seq(
      MonitorThresholds.LateShare -> "1.5",
      MonitorThresholds.StuckFor -> "soon",
      MonitorThresholds.StuckFor -> "-1s",
      MonitorThresholds.StuckBatches -> "0",
      MonitorThresholds.StuckBatches -> "many"
    )
    wrong.foreach { case (setting, text) =>
      conf.setConfString(setting, text)
      val refusal = intercept[EventtideException](MonitorThresholds.of(conf))
      assert(refusal.condition == "INVALID_SETTING" && refusal.getMessage.contains(s"'$text'"))
    }
  }
}
