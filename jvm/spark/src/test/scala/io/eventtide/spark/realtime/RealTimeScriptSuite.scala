package io.eventtide.spark.realtime

import scala.util.Random

import org.apache.spark.sql.eventtide.RealTimePlans
import org.apache.spark.sql.functions.{count, lit, sum}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.testkit.Script
import io.eventtide.spark.{Eventtide, Thorough, WatermarkPolicy, WindowBuilder}

/** Scripts in real-time mode: with a scripted clock, results are those of micro-batches with one row
  * each.
  */
class RealTimeScriptSuite extends AnyFunSuite with RealTimeQueries {
  import RealTimeScriptSuite._

  private val byClock = WatermarkPolicy.limitingLagAndLull("5s", "10s")

  private val rowsOnly = WatermarkPolicy.maxEventTime

  private def ofAll(policy: WatermarkPolicy)(rows: DataFrame): WindowBuilder =
    Eventtide.window(rows).eventTime("ts", policy).keyBy(rows("site"), rows("key")).tumbling("10s")

  private def ofKeys(policy: WatermarkPolicy)(rows: DataFrame): WindowBuilder =
    ofAll(policy)(rows).watermarkScope("key").heartbeat("100ms")

  private def ofGroups(policy: WatermarkPolicy)(rows: DataFrame): WindowBuilder =
    ofAll(policy)(rows).watermarkScope(rows("site")).heartbeat("100ms")

  private val shapes = Map[String, DataFrame => WindowBuilder](
    "keys that fall silent" -> (ofKeys(rowsOnly)(_).keyIdleTimeout("7s")),
    "keys whose policy follows the clock" -> (ofKeys(byClock)(_)),
    "groups of keys that fall silent" -> (ofGroups(rowsOnly)(_).keyIdleTimeout("7s")),
    "groups whose policy follows the clock" -> (ofGroups(byClock)(_)),
    "the query, with a policy that follows the clock" -> (ofAll(byClock)(_))
  )

  private def results(window: WindowBuilder): DataFrame =
    window.agg(count(lit(1)).as("n"), sum("v").as("v")).results

  // The rows of each site go back and forth around the clock; between them time passes.
  private def steps(seed: Int): Seq[Step] = {
    val random = new Random(seed)
    Seq
      .fill(40) {
        if (random.nextInt(3) == 0) Seq(Passes(500 + random.nextInt(9000)))
        else {
          val (site, key) = (s"s${random.nextInt(2)}", s"k${random.nextInt(2)}")
          Seq(
            Passes(200),
            Arrives(Row(random.nextInt(20) - 10, site, key, random.nextInt(100).toLong))
          )
        }
      }
      .flatten
  }

  private def run(window: DataFrame => WindowBuilder, seed: Int, realTime: Boolean) = {
    val schema = "ts timestamp, site string, key string, v bigint"
    val script = Script(spark, schema, realTime = realTime)(rows => results(window(rows)))
    try {
      val emitted = steps(seed).flatMap { step =>
        step match {
          case Passes(millis) => script.clock(s"+${millis}ms")
          case Arrives(row) =>
            val at = script.now.plusSeconds(row.getInt(0).toLong)
            script.rows(Row.fromSeq(at +: row.toSeq.tail))
        }
        // Spark judges rows by the watermark before the last batch, so a batch without rows follows
        if (!realTime) script.rows()
        script.results()
      }
      val late = Eventtide.lateRows(script.streamingQuery).select("v")
      (emitted.map(_.toString).sorted, late.collect().map(_.getLong(0)).toSeq.sorted)
    } finally script.close()
  }

  for (((name, window), i) <- shapes.toSeq.zipWithIndex)
    test(s"$name: with a clock", Thorough.unless(i % 2 == 0): _*) {
      assume(RealTimePlans.canShuffle)
      spark.conf.set("spark.sql.shuffle.partitions", 1)
      val expected = run(window, name.hashCode, realTime = false)
      assert(expected._1.nonEmpty)
      assert(run(window, name.hashCode, realTime = true) == expected)
    }
}

private object RealTimeScriptSuite {
  sealed trait Step
  final case class Arrives(row: Row) extends Step
  final case class Passes(millis: Int) extends Step
}
