package io.eventtide.spark.operators.window

import java.time.Instant

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.{col, count, lit}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.kernel.disorder.{DisorderHistogram, LateTarget, LateTargetSpec}
import io.eventtide.spark.testkit.Script
import io.eventtide.spark.{Eventtide, RocksSession, WatermarkPolicy}

/** Windows by key whose lag is learnt from the late rows of all keys. */
@Slow
final class LateTargetByKeySuite extends AnyFunSuite with RocksSession {
  import LateTargetByKeySuite._

  private val policy = WatermarkPolicy.withLateTarget("5%", "5m", "20s", 300, "forever")

  for (scope <- Seq("key", "group"))
    test(s"rows are late and windows close as in a model, with a watermark by $scope") {
      val batches = random(seed = scope.length)
      val model = new Model(key => if (scope == "key") key else key.take(1))
      val script = Script(spark, "ts timestamp, key string, site string") { stream =>
        val keyed = Eventtide.window(stream).eventTime("ts", policy).keyBy(col("key"), col("site"))
        val timed =
          if (scope == "key") keyed.watermarkScope("key") else keyed.watermarkScope(col("site"))
        timed.tumbling("10s").agg(count(lit(1)).as("n")).results
      }
      try
        batches.zipWithIndex.foreach { case (rows, i) =>
          if (i % 7 == 3) script.restart()
          script.rows(rows.map(row => Row(text(row.time), row.key, row.key.take(1))): _*)
          val found = script.results().map { row =>
            (row.getString(1), micros(row.getStruct(0).getTimestamp(0)), row.getLong(3))
          }
          assert(found.toSet == model.batch(rows), s"in batch $i")
          assert(Eventtide.lateRows(script.streamingQuery).count() == model.late, s"in batch $i")
        }
      finally script.close()
      assert(model.lags.size > 5)
      assert(model.late > 0.02 * model.rows && model.late < 0.06 * model.rows)
    }

  for (ofRows <- Seq(false, true))
    test(s"rows within the gap of their session need no lag, a gap for each row: $ofRows") {
      val script = Script(spark, "ts timestamp, key string, gap string") { stream =>
        val target = WatermarkPolicy.withLateTarget("5%", "1h", "0s")
        val keyed = Eventtide.window(stream).eventTime("ts", target).keyBy(col("key"))
        val timed = keyed.watermarkScope("key").keyIdleTimeout("2h")
        val sessions =
          if (ofRows) timed.session(col("gap"))
          else timed.session("30m")
        sessions.agg(count(lit(1)).as("n")).results
      }
      def row(minute: Int) =
        Row(text(Begin + minute * 60 * Second), "a", "30 minutes")
      try {
        script.rows(row(20))
        (1 to 3).foreach(_ => script.rows(row(10), row(20)))
        assert(script.results().isEmpty)
        assert(script.rows(row(51)).results().map(_.getLong(2)).toSeq == Seq(7L))
      } finally script.close()
    }
}

private object LateTargetByKeySuite {
  private val Second = 1000000L
  private val Size = 10 * Second
  private val Begin = 1704067200L * Second

  final case class Event(key: String, time: Long)

  /** Rows of four keys, which are behind by a minute on average, some keys by more. */
  def random(seed: Int): Seq[Seq[Event]] = {
    val random = new Random(seed)
    def delay(key: Int) = -math.log(1 - random.nextDouble()) * (20 + 20 * key)
    (0 until 40).map { batch =>
      (0 until 40).map { i =>
        val key = random.nextInt(4)
        val time = batch * 20 + i * 0.5 - delay(key)
        Event(Seq("a1", "a2", "b1", "b2")(key), Begin + (time * Second).toLong)
      }
    }
  }

  def text(time: Long): String = Instant.ofEpochSecond(0, time * 1000).toString.dropRight(1)

  def micros(time: java.sql.Timestamp): Long = time.getTime * 1000

  /** What has a watermark of its own. */
  final class Timed(var lag: Long) {
    var top, floor = Long.MinValue
    def isKnown: Boolean = top != Long.MinValue
    def watermark: Long = math.max(floor, top - lag)
  }

  /** Tumbling windows of keys; `timeOf` is what a key has its watermark from. */
  final class Model(timeOf: String => String) {
    private val target = new LateTarget(
      LateTargetSpec(50000, 300 * Second, 20 * Second, 300, false)
    )
    private val times = mutable.TreeMap.empty[String, Timed]
    private val open = mutable.TreeMap.empty[(String, Long), Long]
    val lags = mutable.Set.empty[Long]
    var rows, late = 0L

    /** Returns the key, the start and the rows of the windows that close. */
    def batch(events: Seq[Event]): Set[(String, Long, Long)] = {
      val (lag, disorder, lateBefore) = (target.lag, new DisorderHistogram, late)
      lags += lag
      events.groupBy(event => timeOf(event.key)).foreach { case (name, mine) =>
        val time = times.getOrElseUpdate(name, new Timed(lag = 20 * Second))
        val (onTime, missed) =
          mine.partition(event => !time.isKnown || end(event) > time.watermark)
        late += missed.length
        onTime.foreach { event =>
          open((event.key, end(event))) = open.getOrElse((event.key, end(event)), 0L) + 1
        }
        val behind = mine.filter(event => time.isKnown && end(event) <= time.top)
        behind.foreach(event => disorder.add(time.top - end(event) + 1))
        if (onTime.nonEmpty) advance(time, lag, onTime.map(_.time).max)
      }
      rows += events.length
      disorder.addInOrder(events.length - disorder.rows)
      target.observe(disorder, late - lateBefore)
      closed
    }

    private def end(event: Event) = Math.floorDiv(event.time, Size) * Size + Size

    // A longer lag never moves a watermark back.
    private def advance(time: Timed, lag: Long, top: Long): Unit = {
      if (lag != time.lag && time.isKnown) time.floor = time.watermark
      time.lag = lag
      time.top = math.max(time.top, top)
    }

    private def closed = {
      val due = open.filter { case ((key, end), _) => times(timeOf(key)).watermark >= end }.toSeq
      due.foreach { case (window, _) => open -= window }
      due.map { case ((key, end), n) => (key, end - Size, n) }.toSet
    }
  }
}
