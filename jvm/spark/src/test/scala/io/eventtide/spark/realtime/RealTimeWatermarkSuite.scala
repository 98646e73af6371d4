package io.eventtide.spark.realtime

import org.apache.spark.sql.eventtide.RealTimePlans
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.functions.sum
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.Outcome
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.storm.{Count, StormWindow}
import io.eventtide.spark.{Eventtide, WatermarkOptions, WatermarkPolicy}

/** Windows in the time of the query, in real-time mode: its watermark moves within a batch. */
class RealTimeWatermarkSuite extends AnyFunSuite with RealTimeQueries {
  import RealTimeQueries._

  override protected def withFixture(test: NoArgTest): Outcome = {
    assume(RealTimePlans.canShuffle)
    super.withFixture(test)
  }

  private def timed(
      events: DataFrame,
      options: WatermarkOptions = WatermarkOptions(),
      policy: WatermarkPolicy = WatermarkPolicy.maxEventTime
  ) = Eventtide.withWatermark(events, "ts", policy, options)

  private def byMinuteOf(timed: DataFrame): DataFrame =
    counts(Eventtide.window(timed).keyBy(timed("key")).tumbling("1m"))

  private val bySource = WatermarkOptions().substream("source")

  private def withSource(events: DataFrame): DataFrame =
    events.selectExpr("*", "v % 2 AS source")

  /** Adds a row to each source partition, and waits until both have been seen. */
  private def addToBoth(events: LowLatencyMemoryStream[Event]): Unit = {
    events.addData(0, Seq(at(0, "a", 0)))
    events.addData(1, Seq(at(1, "a", 1)))
    eventually(assert(rowsSeen == 2)): Unit
  }

  test("a row closes the windows of all keys, in all partitions") {
    val events = source()
    running(start(byMinuteOf(timed(events.toDF())), newFolder)) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(1, "b", 2), at(2, "c", 4), at(3, "d", 8)))
      events.addData(0, Seq(at(60, "a", 16)))
      eventually {
        assert(emitted.toSet == Set(("a", 1L), ("b", 2L), ("c", 4L), ("d", 8L)).map {
          case (key, v) => Row(key, 0L, 1L, v)
        })
      }
      assert(query.lastProgress == null)
    }
  }

  test("the lowest substream holds the watermark, also if it is in another source partition") {
    val events = source()
    val rows = withSource(events.toDF())
    running(start(byMinuteOf(timed(rows, bySource)), newFolder)) { _ =>
      addToBoth(events)
      events.addData(0, Seq(at(100, "a", 10)))
      eventually(assert(rowsSeen == 3))
      assert(emitted.isEmpty)
      events.addData(1, Seq(at(2, "a", 3), at(61, "a", 101)))
      eventually(assert(emitted == Seq(Row("a", 0L, 3L, 4L))))
    }
  }

  test("a substream that becomes idle closes windows while no row arrives") {
    val events = source()
    val options = bySource.substreamIdleTimeout("3s")
    val rows = withSource(events.toDF())
    running(start(byMinuteOf(timed(rows, options)), newFolder)) { query =>
      addToBoth(events)
      events.addData(1, Seq(at(61, "b", 3)))
      eventually(assert(emitted == Seq(Row("a", 0L, 2L, 1L))))
      assert(query.lastProgress == null)
    }
  }

  test("a policy that follows the clock closes windows while no row arrives") {
    val events = source()
    val lull = WatermarkPolicy.limitingLagAndLull("5s", "300ms")
    running(start(byMinuteOf(timed(events.toDF(), policy = lull)), newFolder)) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(64, "b", 2)))
      eventually(assert(emitted == Seq(Row("a", 0L, 1L, 1L))))
      assert(query.lastProgress == null)
    }
  }

  // Spark moves a deterministic filter below the watermark.
  test("rows that a filter removes move the watermark") {
    val events = source()
    running(start(byMinuteOf(timed(events.toDF()).where("rand() < v")), newFolder)) { _ =>
      events.addData(0, Seq(at(0, "a", 1)))
      events.addData(0, Seq(at(61, "a", 0)))
      eventually(assert(emitted == Seq(Row("a", 0L, 1L, 1L))))
    }
  }

  test("the last of many rows moves the watermark") {
    val events = source()
    running(start(byMinuteOf(timed(events.toDF())), newFolder)) { _ =>
      events.addData(0, (0 until 600).map(second => at(second, "a", 1)))
      eventually(assert(emitted.map(_.getLong(1)) == (0 until 9).map(_ * 60L)))
      assert(emitted.forall(_.getLong(2) == 60))
    }
  }

  test("windows of Storm run") {
    val events = source()
    val bolt = StormWindow()
      .withTimestampField("ts")
      .withTumblingWindow(Count(2))
      .over(events.toDF())
      .groupBy("key")
      .withKeyTtl("1h")
      .agg(sum("v").as("v"))
    running(start(bolt.results.select("key", "v"), newFolder)) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(1, "a", 2), at(2, "a", 4)))
      eventually(assert(emitted == Seq(Row("a", 3L))))
      assert(query.lastProgress == null)
    }
  }

  test("two inputs have the lower watermark") {
    val (left, right) = (source(), source())
    val both = timed(left.toDF()).union(timed(right.toDF()))
    running(start(byMinuteOf(both), newFolder)) { _ =>
      left.addData(0, Seq(at(0, "a", 1), at(100, "a", 2)))
      right.addData(0, Seq(at(1, "a", 4), at(2, "a", 8)))
      eventually(assert(rowsSeen == 4))
      assert(emitted.isEmpty)
      right.addData(0, Seq(at(60, "a", 16)))
      eventually(assert(emitted == Seq(Row("a", 0L, 3L, 13L))))
    }
  }

  test("state, watermark and late rows of a batch are kept, also in another mode") {
    val folder = newFolder
    val events = source()
    def go(trigger: Trigger) = start(byMinuteOf(timed(events.toDF())), folder, trigger)
    running(go(Trigger.RealTime("1 second"))) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(61, "a", 2)))
      eventually(assert(emitted == Seq(Row("a", 0L, 1L, 1L))))
      events.addData(0, Seq(at(30, "a", 100)))
      eventually(assert(query.lastProgress.batchId > 1))
      assert(query.lastProgress.eventTime.get("watermark") == "1970-01-01T00:01:01.000Z")
    }
    running(go(Trigger.ProcessingTime(0))) { query =>
      events.addData(0, Seq(at(31, "a", 101), at(62, "a", 3), at(121, "a", 4)))
      query.processAllAvailable()
    }
    assert(emitted.tail == Seq(Row("a", 60L, 2L, 5L)))
    running(go(Trigger.RealTime("1 hour"))) { _ =>
      events.addData(0, Seq(at(100, "a", 102), at(181, "a", 5)))
      eventually(assert(emitted.drop(2) == Seq(Row("a", 120L, 1L, 4L))))
    }
    running(go(Trigger.ProcessingTime(0)))(_.processAllAvailable())
    assert(lateValues(folder).sorted == Seq(100L, 101L, 102L))
  }

  test("reports have the watermark within the batch") {
    val events = source()
    running(start(byMinuteOf(timed(events.toDF())), newFolder)) { query =>
      events.addData(0, Seq(at(0, "a", 1), at(61, "a", 2)))
      eventually(assert(emitted == Seq(Row("a", 0L, 1L, 1L))))
      events.addData(0, Seq(at(5, "a", 4)))
      eventually {
        val progress = Eventtide.progress(query).get
        assert(progress.emitted.exists(_.getEpochSecond == 61))
        assert((progress.onTime, progress.late.values.sum) == ((2L, 1L)))
      }
      assert(query.lastProgress == null)
    }
  }

  // The rows that reports have counted in the running query.
  private def rowsSeen: Long =
    Eventtide
      .progress(spark.streams.active.head)
      .map(_.inputs.flatMap(_.substreams.map(_.rowsTotal)).sum)
      .getOrElse(0)
}
