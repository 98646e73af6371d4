package io.eventtide.spark.realtime

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.eventtide.RealTimePlans
import org.apache.spark.sql.functions.{count, lit, sum}
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.Outcome
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{Eventtide, WatermarkPolicy, WindowBuilder}

/** Windows in real-time mode. */
class RealTimeSuite extends AnyFunSuite with RealTimeQueries {
  import RealTimeQueries._

  // An older Spark is refused, which is all that is tested there.
  override protected def withFixture(test: NoArgTest): Outcome = {
    assume(RealTimePlans.canShuffle || test.name.startsWith("what real-time mode"))
    super.withFixture(test)
  }

  test("a window closes within the batch, after the row that closes it") {
    val events = source()
    running(start(byMinute(events.toDF()), newFolder)) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(30, "a", 2), at(10, "b", 5), at(61, "a", 4)))
      eventually(assert(emitted == Seq(Row("a", 0L, 2L, 3L))))
      events.addData(1, Seq(at(200, "b", 7)))
      eventually(assert(emitted.tail == Seq(Row("b", 0L, 1L, 5L))))
      assert(query.lastProgress == null)
    }
  }

  test("an idle key closes its windows while no row arrives") {
    val events = source()
    val idle = counts(keyed(events.toDF()).keyIdleTimeout("300ms").tumbling("1m"))
    running(start(idle, newFolder)) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(1, "b", 2)))
      eventually(assert(emitted.toSet == Set(Row("a", 0L, 1L, 1L), Row("b", 0L, 1L, 2L))))
      assert(query.lastProgress == null)
    }
  }

  test("an idle key closes its windows while other keys have rows all the time") {
    val events = source()
    val idle = counts(keyed(events.toDF()).keyIdleTimeout("1s").tumbling("1m"))
    running(start(idle, newFolder, Trigger.RealTime("1 second"))) { _ =>
      events.addData(0, Seq(at(0, "a", 1)))
      eventually {
        events.addData(0, Seq(at(1, "b", 1)))
        assert(emitted.map(_.getString(0)) == Seq("a"))
      }
    }
  }

  test("sessions, counts and early results leave as their rows arrive") {
    val shapes =
      Seq[WindowBuilder => WindowBuilder](_.session("10s").keyIdleTimeout("1h"), _.byCount(2))
    shapes.foreach { shape =>
      results.clear()
      val events = source()
      val sums = shape(keyed(events.toDF())).agg(count(lit(1)).as("n"), sum("v").as("v")).results
      running(start(sums.select("key", "n", "v"), newFolder)) { _ =>
        events.addData(0, Seq(at(0, "a", 1), at(5, "a", 2), at(60, "a", 4)))
        eventually(assert(emitted == Seq(Row("a", 2L, 3L))))
      }
    }
  }

  test("a row of a group closes the windows of its other keys") {
    val events = source()
    val grouped = events.toDF().selectExpr("ts", "key", "left(key, 1) AS site", "v")
    val window = Eventtide.window(grouped).eventTime("ts", WatermarkPolicy.maxEventTime)
    val bySite = window.keyBy("site", "key").watermarkScope(grouped("site")).tumbling("1m")
    running(start(counts(bySite), newFolder)) { _ =>
      events.addData(0, Seq(at(0, "a1", 1), at(90, "b1", 8), at(61, "a2", 2), at(59, "a1", 64)))
      eventually(assert(emitted == Seq(Row("a1", 0L, 1L, 1L))))
      events.addData(0, Seq(at(62, "a1", 4), at(120, "a1", 16)))
      eventually {
        assert(emitted.tail.toSet == Set(Row("a1", 60L, 1L, 4L), Row("a2", 60L, 1L, 2L)))
      }
    }
  }

  test("the sink memory has the rows of a batch at its end") {
    val events = source()
    val writer = byMinute(events.toDF()).writeStream.format("memory").queryName("closed")
    writer.outputMode("update").option("checkpointLocation", newFolder)
    running(writer.trigger(Trigger.RealTime("1 second")).start()) { _ =>
      events.addData(0, Seq(at(0, "a", 1), at(61, "a", 2)))
      eventually(assert(spark.table("closed").collect().toSeq == Seq(Row("a", 0L, 1L, 1L))))
    }
  }

  test("the limit for rows from the future follows the clock within a batch") {
    val events = source()
    val policy = WatermarkPolicy.maxEventTime.guardFuture("0s", "late")
    def now = (System.currentTimeMillis() / 1000).toInt
    running(start(counts(keyed(events.toDF(), policy).tumbling("1s")), newFolder)) { query =>
      events.addData(0, Seq(at(1, "a", 1), at(2, "a", 2), at(now + 600, "a", 100)))
      eventually(assert(emitted == Seq(Row("a", 1L, 1L, 1L))))
      val begun = now
      eventually(assert(now > begun + 1)) // later than the start of the batch by far
      events.addData(0, Seq(at(begun + 1, "a", 4)))
      eventually(assert(emitted.tail == Seq(Row("a", 2L, 1L, 2L))))
      eventually {
        val progress = Eventtide.progress(query).get
        assert((progress.onTime, progress.late) == ((3L, Map("future" -> 1L))))
      }
    }
  }

  test("reports follow the rows within a batch") {
    val events = source()
    running(start(byMinute(events.toDF()), newFolder)) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(61, "a", 2), at(5, "a", 4), at(70, "b", 8)))
      eventually {
        val progress = Eventtide.progress(query).get
        assert((progress.onTime, progress.late.values.sum) == ((3L, 1L)))
      }
      // the watermark of the lower key
      eventually(assert(Eventtide.blame(query).get.contains("01:01")))
      events.addData(0, Seq(at(100, "a", 1), at(500, "b", 2)))
      eventually(assert(Eventtide.progress(query).get.onTime == 5))
      eventually(assert(Eventtide.blame(query).get.contains("01:40")))
      assert(query.lastProgress == null)
    }
  }

  test("the rows that reports have counted are counted once") {
    val events = source()
    running(start(byMinute(events.toDF()), newFolder, Trigger.RealTime("3 seconds"))) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(61, "a", 2), at(5, "a", 4)))
      eventually(assert(Eventtide.progress(query).exists(_.onTime == 2)))
      assert(query.lastProgress == null)
      eventually(assert(query.lastProgress.batchId > 0))
      val progress = Eventtide.progress(query).get
      assert((progress.onTime, progress.late.values.sum) == ((2L, 1L)))
    }
  }

  test("state and late rows of a batch are kept, also in another mode") {
    val folder = newFolder
    val events = source()
    def go(trigger: Trigger) = start(byMinute(events.toDF()), folder, trigger)
    running(go(Trigger.RealTime("1 second"))) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(61, "a", 2), at(30, "a", 100)))
      eventually(assert(query.lastProgress.batchId > 0))
    }
    assert(emitted == Seq(Row("a", 0L, 1L, 1L)))
    assert(lateValues(folder) == Seq(100L))
    running(go(Trigger.ProcessingTime(0))) { query =>
      events.addData(0, Seq(at(62, "a", 3), at(121, "a", 4)))
      query.processAllAvailable()
    }
    assert(emitted.tail == Seq(Row("a", 60L, 2L, 5L)))
    running(go(Trigger.RealTime("1 hour"))) { _ =>
      events.addData(0, Seq(at(181, "a", 5)))
      eventually(assert(emitted.drop(2) == Seq(Row("a", 120L, 1L, 4L))))
    }
  }

  test("rows of a batch that did not end are processed again") {
    val folder = newFolder
    val events = source()
    def go() = start(byMinute(events.toDF()), folder)
    running(go()) { _ =>
      events.addData(0, Seq(at(0, "a", 1), at(61, "a", 2), at(5, "a", 100)))
      eventually(assert(emitted == Seq(Row("a", 0L, 1L, 1L))))
    }
    running(go()) { _ =>
      eventually(assert(emitted == Seq.fill(2)(Row("a", 0L, 1L, 1L))))
      events.addData(0, Seq(at(122, "a", 3)))
      eventually(assert(emitted.drop(2) == Seq(Row("a", 60L, 1L, 2L))))
    }
    running(start(byMinute(events.toDF()), folder, Trigger.RealTime("1 second"))) { query =>
      eventually(assert(query.lastProgress.batchId > 0))
    }
    assert(lateValues(folder) == Seq(100L))
  }

  test("a watermark moves from batch to batch") {
    val events = source()
    val timed =
      Eventtide.withWatermark(events.toDF(), "ts", WatermarkPolicy.withFixedLag("5s"))
    running(start(timed.select("key", "v"), newFolder, Trigger.RealTime("1 second"))) { query =>
      events.addData(0, Seq(at(60, "a", 1)))
      eventually(assert(emitted == Seq(Row("a", 1L))))
      eventually {
        assert(query.lastProgress.eventTime.get("watermark") == "1970-01-01T00:00:55.000Z")
      }
    }
  }

  test("a window without keys needs one core, and the core of its source") {
    assume(RealTimePlans.canShuffle)
    withConf("spark.sql.shuffle.partitions", "6") {
      val events = source()
      val all = Eventtide.window(events.toDF()).eventTime("ts", WatermarkPolicy.maxEventTime)
      val sums = all.tumbling("1m").agg(sum("v").as("v")).results.select("v")
      running(start(sums, newFolder)) { _ =>
        events.addData(0, Seq(at(0, "a", 1), at(61, "a", 2)))
        eventually(assert(emitted == Seq(Row(1L))))
      }
    }
  }

  test("what real-time mode cannot run is refused before the query starts") {
    val events = source().toDF()
    if (RealTimePlans.canShuffle) checkRefusals(events)
    else assert(refused(byMinute(events)) == "REAL_TIME_SPARK")
  }

  private def refused(results: DataFrame, mode: String = "update"): String =
    intercept[Exception with SparkThrowable] {
      val writer = results.writeStream.foreach(new Collected).outputMode(mode)
      val timed = writer.option("checkpointLocation", newFolder).trigger(Trigger.RealTime("1 hour"))
      timed.start().stop() // so that no query is left if none is refused
    }.getCondition

  private def checkRefusals(events: DataFrame): Unit = {
    assert(refused(byMinute(events), "append") == "REAL_TIME_OUTPUT_MODE")
    val ingested = Eventtide.withIngestionTime(events.drop("ts"), "ts")
    assert(refused(ingested.select("key", "v")) == "REAL_TIME_INGESTION_TIME")
    val byEventTime = keyed(events).keyIdleTimeout("1m", "event_time").tumbling("1m")
    assert(refused(counts(byEventTime)) == "REAL_TIME_KEY_IDLE_CLOCK")
    val timed = Eventtide.withWatermark(events, "ts", WatermarkPolicy.maxEventTime)
    val rows = Eventtide.window(timed.repartition(2)).eventTime("ts").keyBy("key")
    assert(refused(counts(rows.tumbling("1m"))) == "REAL_TIME_REPARTITION")
    val sums = ofAll(events).tumbling("1m").agg(sum("v").as("v")).results
    assert(refused(sums.groupBy("window").count()) == "REAL_TIME_STATEFUL")
    withConf("spark.sql.shuffle.partitions", "6") {
      assert(refused(byMinute(events)) == "REAL_TIME_SLOTS")
    }
    withConf("spark.sql.shuffle.partitions", "5") { // and two partitions of the source
      val query = start(byMinute(events), newFolder)
      val failed = intercept[StreamingQueryException](query.awaitTermination())
      assert(failed.getMessage.contains("REAL_TIME_SLOTS"))
    }
    for ((sink, mode) <- Seq("noop" -> "update", "parquet" -> "append")) {
      val error = intercept[Exception with SparkThrowable] {
        val writer = byMinute(events).writeStream.format(sink).outputMode(mode)
        writer.option("checkpointLocation", newFolder).option("path", newFolder)
        writer.trigger(Trigger.RealTime("1 hour")).start()
      }
      assert(error.getCondition == "REAL_TIME_SINK", sink)
    }
    withConf("spark.sql.shuffle.partitions", "1") {
      val sorted = byMinute(events).join(spark.range(3).toDF("n").hint("merge"), "n")
      val query = start(sorted, newFolder)
      val failed = intercept[StreamingQueryException](query.awaitTermination())
      assert(failed.getMessage.contains("REAL_TIME_OPERATOR"))
      assert(failed.getMessage.contains("SortMergeJoinExec"))
    }
    withConf("spark.sql.streaming.realTimeMode.allowlistCheck", "true") {
      assert(refused(byMinute(events)) == "REAL_TIME_SETTINGS")
    }
  }
}
