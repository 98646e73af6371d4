package io.eventtide.spark.query.lab

import java.time.Instant
import java.time.temporal.ChronoUnit

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.functions.{col, count, lit}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.lab.Delays
import io.eventtide.spark.planning.EventtideRequest
import io.eventtide.spark.testkit.Script
import io.eventtide.spark.{
  Eventtide,
  EventtideException,
  RocksSession,
  Thorough,
  WatermarkOptions,
  WatermarkPolicy,
  WindowBuilder
}

/** What the lab says of recorded rows is what a query does with them. */
class LabSuite extends AnyFunSuite with RocksSession {
  import LabSuite._

  private def lab(
      rows: DataFrame,
      policies: Seq[WatermarkPolicy],
      window: Map[String, String],
      others: Map[String, String] = Map.empty
  ): Seq[Row] = {
    val ofPolicies = for {
      (policy, i) <- policies.zipWithIndex
      (name, value) <- policy.options ++ others
    } yield s"policies.$i.$name" -> value
    val options =
      window ++ ofPolicies + ("request" -> "lab") + ("every" -> s"PT${Every}S") +
        ("event_time" -> "ts") + ("arrival" -> "seen")
    val columns = Map("substream" -> Seq(col("site")), "keys" -> Seq(col("key")))
    EventtideRequest
      .over(rows.asInstanceOf[org.apache.spark.sql.classic.DataFrame], options, columns)
      .collect()
      .toSeq
      .sortBy(_.getInt(0))
  }

  private def recorded(rows: Seq[Seq[Any]]): DataFrame =
    spark.createDataFrame(rows.map(Row.fromSeq).asJava, Schema).repartition(3)

  // The rows of each trigger come once the clock has reached it.
  private def run(rows: Seq[Seq[Any]])(query: DataFrame => WindowBuilder): Outcome = {
    val counted = (stream: DataFrame) => query(stream).agg(count(lit(1)).as("n")).results
    val script = Script(spark, Schema.toDDL, clock = Start.toString.dropRight(1))(counted)
    try {
      val closed = mutable.LinkedHashMap.empty[Instant, Instant]
      def note(): Unit = script.results().foreach { row =>
        closed.getOrElseUpdate(
          row.getStruct(0).getAs[java.sql.Timestamp](1).toInstant,
          script.now
        ): Unit
      }
      val byTrigger = rows.groupBy(row => trigger(row(1).asInstanceOf[Instant]))
      (1L to byTrigger.keys.max).foreach { number =>
        script.clock(s"+${Every}s")
        note()
        byTrigger.get(number).foreach(of => script.rows(of.map(Row.fromSeq): _*))
        note()
      }
      val delays = new Delays
      closed.foreach { case (end, at) => delays.add(ChronoUnit.MICROS.between(end, at)) }
      Outcome(rows.length.toLong, Eventtide.lateRows(script.streamingQuery).count(), delays)
    } finally script.close()
  }

  private val policies = Map(
    "a fixed lag" -> WatermarkPolicy.withFixedLag("7s"),
    "no lag" -> WatermarkPolicy.withFixedLag("0s"),
    "a throttle" -> WatermarkPolicy.withFixedLag("3s").throttleByFrame("15s"),
    "a lull" -> WatermarkPolicy.limitingLagAndLull("5s", "20s"),
    "the clock" -> WatermarkPolicy.limitingRealTimeLag("30s"),
    "a target" -> WatermarkPolicy.withLateTarget("5%", "1m", "0s")
  )

  private val windows = Map[String, (Map[String, String], WindowBuilder => WindowBuilder)](
    "tumbling" -> (Map("kind" -> "tumbling", "size" -> "PT20S"), _.tumbling("20s")),
    "sliding" ->
      (Map("kind" -> "sliding", "size" -> "PT30S", "slide" -> "PT10S"), _.sliding("30s", "10s"))
  )

  for (((name, policy), i) <- policies.zipWithIndex) {
    val (kind, (options, window)) = windows.toSeq(i % windows.size)
    test(s"$kind, $name: as a query with the same rows", Thorough.unless(i % 3 == 0): _*) {
      val seed = s"$name $kind".hashCode
      val rows = random(seed)
      val timeout = Option.when(seed % 2 == 0)("40s")
      val idle = timeout.map(text => "substream_idle_timeout" -> s"PT${text.toUpperCase}")
      val told = lab(recorded(rows), Seq(policy), options, idle.toMap).head
      val done = run(rows) { stream =>
        val watermark = WatermarkOptions().substream("site")
        val settings = timeout.fold(watermark)(watermark.substreamIdleTimeout(_))
        window(Eventtide.window(stream).eventTime("ts", policy, settings).keyBy(col("key")))
      }
      assert(Outcome.of(told) == Outcome.shown(done))
    }
  }

  test("many policies in one pass are as one by one") {
    val rows = recorded(random(7))
    val all = policies.values.toSeq
    val window = Map("kind" -> "tumbling", "size" -> "PT20S")
    val together = lab(rows, all, window).map(_.toSeq.tail)
    assert(together == all.map(one => lab(rows, Seq(one), window).head.toSeq.tail))
    assert(together.toSet.size > 3)
  }

  test("rows without a time are refused, and counted") {
    val rows = random(3)
    val bad = Seq(Seq(null, Start, "a", "k"), Seq(Start, null, "a", "k"), Seq(null, null, "b", "k"))
    val window = Map("kind" -> "tumbling", "size" -> "PT20S")
    val policy = Seq(WatermarkPolicy.withFixedLag("7s"))
    val some = lab(recorded(rows ++ bad), policy, window).head
    val none = lab(recorded(rows), policy, window).head
    assert(some.getAs[Long]("refused") == 3 && some.getAs[Long]("rows") == rows.length + 3)
    assert(some.getAs[Long]("late") == none.getAs[Long]("late"))
    val empty = lab(recorded(Nil), policy, window).head
    assert(empty.getAs[Long]("rows") == 0 && empty.isNullAt(empty.fieldIndex("delay_p50")))
  }

  test("what the lab cannot replay is refused before any row is read") {
    val rows = recorded(random(1))
    val window = Map("kind" -> "tumbling", "size" -> "PT20S")
    def refused(policy: WatermarkPolicy, window: Map[String, String]) =
      intercept[EventtideException](lab(rows, Seq(policy), window)).condition
    val lag = WatermarkPolicy.withFixedLag("7s")
    assert(refused(lag.guardFuture("1m"), window) == "LAB_POLICY")
    assert(refused(lag, Map("kind" -> "session", "gap" -> "PT20S")) == "LAB_WINDOW")
    assert(refused(lag, window + ("scope" -> "key")) == "LAB_WINDOW")
    val stream = spark.readStream.format("rate").load()
    val renamed = stream.selectExpr("timestamp AS ts", "timestamp AS seen", "'a' site", "'k' key")
    val found = intercept[EventtideException](lab(renamed, Seq(lag), window))
    assert(found.condition == "LAB_STREAM")
  }
}

private object LabSuite {
  val Schema: StructType =
    StructType.fromDDL("ts timestamp, seen timestamp, site string, key string")
  val Every = 5L
  val Start: Instant = Instant.parse("2024-01-01T00:00:00Z")

  def trigger(seen: Instant): Long = ChronoUnit.SECONDS.between(Start, seen) / Every + 1

  /** Rows of three sites that are late by up to a minute, with pauses; the first comes at once. */
  def random(seed: Int): Seq[Seq[Any]] = {
    val random = new Random(seed)
    var now = 0L
    (0 until 150).map { i =>
      if (i > 0)
        now += (if (random.nextInt(30) == 0) random.nextInt(90000) else random.nextInt(2500))
      val behind = if (random.nextInt(4) == 0) random.nextInt(60000) else random.nextInt(4000)
      val seen = Start.plusMillis(now)
      Seq(seen.minusMillis(behind.toLong), seen, s"s${random.nextInt(3)}", s"k${random.nextInt(4)}")
    }
  }

  final case class Outcome(rows: Long, late: Long, delays: Delays)

  object Outcome {
    private val Shares = Seq(0.5, 0.9, 0.99)

    def shown(of: Outcome): Seq[Any] =
      Seq(of.rows, of.late, of.delays.count) ++ Shares.map(of.delays.quantile(_).orNull[Any])

    def of(row: Row): Seq[Any] =
      Seq("rows", "late", "windows", "delay_p50", "delay_p90", "delay_p99").map(row.getAs[Any])
  }
}
