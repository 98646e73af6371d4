package io.eventtide.spark.realtime

import scala.util.Random

import org.apache.spark.sql.eventtide.RealTimePlans
import org.apache.spark.sql.functions.{count, lit, sum}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.testkit.Script
import io.eventtide.spark.{Eventtide, Thorough, WindowBuilder, WindowTrigger}

/** The results of real-time mode are those of micro-batches with one row each. */
class RealTimeSamenessSuite extends AnyFunSuite with RealTimeQueries {
  import RealTimeQueries._

  private val shapes = Map[String, WindowBuilder => WindowBuilder](
    "tumbling" -> (_.tumbling("10s")),
    "sliding" -> (_.sliding("30s", "10s").delay("5s")),
    "sessions" -> (_.session("5s").keyIdleTimeout("1h")),
    "counts" -> (_.byCount(3, 1)),
    "panes" -> (_.tumbling("20s").emit(WindowTrigger.atWindowEnd, WindowTrigger.everyRows(2))),
    "late updates" -> (_.tumbling("10s").allowedLateness("30s").lateUpdates())
  )

  // Each key goes back and forth, at most so far that some rows are late.
  private def rows(seed: Int): Seq[Event] = {
    val random = new Random(seed)
    val reached = scala.collection.mutable.Map.empty[String, Int].withDefaultValue(0)
    Seq.fill(40) {
      val key = s"k${random.nextInt(3)}"
      reached(key) += random.nextInt(60) - 25
      at(60 + reached(key), key, random.nextInt(100).toLong)
    }
  }

  private def results(window: WindowBuilder): DataFrame =
    window.agg(count(lit(1)).as("n"), sum("v").as("v")).results

  // Spark judges rows by the watermark before the last batch, so a batch without rows follows.
  private def inMicroBatches(
      window: DataFrame => WindowBuilder,
      events: Seq[Event]
  ): (Seq[Row], Seq[Long]) = {
    val script = Script(spark, "ts timestamp, key string, v bigint")(rows => results(window(rows)))
    try {
      val emitted = events.flatMap { one =>
        script.rows(Row(one.ts, one.key, one.v)).rows().results()
      }
      val late = Eventtide.lateRows(script.streamingQuery).select("v")
      (emitted, late.collect().map(_.getLong(0)).toSeq)
    } finally script.close()
  }

  for {
    ((scope, begin), i) <- Seq[(String, DataFrame => WindowBuilder)](
      "key" -> (keyed(_)),
      "query" -> (ofAll(_))
    ).zipWithIndex
    ((name, shape), j) <- shapes.toSeq.zipWithIndex
  } {
    test(s"$name in the time of the $scope are the same", Thorough.unless(i == j % 2): _*) {
      assume(RealTimePlans.canShuffle)
      val events = rows(seed = name.hashCode)
      val window = (rows: DataFrame) => shape(begin(rows))
      // a marker follows each row if it is sent to one partition
      spark.conf.set("spark.sql.shuffle.partitions", if (scope == "query") 1 else 2)
      val (expected, late) = inMicroBatches(window, events)
      assert(expected.nonEmpty)
      assert(late.nonEmpty == (name != "counts"))
      val folder = newFolder
      val stream = source()
      stream.addData(0, events)
      running(start(results(window(stream.toDF())), folder, Trigger.RealTime("1 second"))) {
        query =>
          eventually(assert(query.lastProgress.batchId > 0))
      }
      assert(byKey(emitted) == byKey(expected))
      assert(lateValues(folder).sorted == late.sorted)
    }
  }

  private def byKey(rows: Seq[Row]): Map[String, Seq[Row]] = rows.groupBy(_.getAs[String]("key"))
}
