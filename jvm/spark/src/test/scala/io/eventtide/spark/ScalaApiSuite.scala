package io.eventtide.spark

import java.io.{DataInput, DataOutput}
import java.net.URLClassLoader
import java.nio.file.Files
import java.time.Instant

import org.apache.spark.sql.functions.{avg, col, count, expr, lit, max, sum}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Dataset, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.kernel.watermark.{CustomPolicyKind, ParamSpec, WatermarkPolicy => KernelPolicy}
import io.eventtide.spark.implicits._
import io.eventtide.spark.testkit.Script

/** Queries of a Scala user, from the builder to reports, late rows, state and repair. */
class ScalaApiSuite extends AnyFunSuite with RocksSession {
  private val schema = "ts timestamp, device string, v int"

  private def minutes(rows: Dataset[_]): WindowBuilder = rows.eventtideWindow
    .eventTime("ts", WatermarkPolicy.withFixedLag("2s"), WatermarkOptions().substream("device"))
    .keyBy(col("device"))
    .tumbling("1m")
    .agg(count(lit(1)).as("n"), sum("v").as("total"))

  private def at(time: String, device: String, v: Int) = Row(s"2024-01-01 $time", device, v)

  private def minute(from: String, to: String) = Row(s"2024-01-01 $from", s"2024-01-01 $to")

  private def scripted(work: Script => Unit): Unit = {
    val script = Script(spark, schema)(rows => minutes(rows).results)
    try work(script)
    finally script.close()
  }

  test("a window counts, late rows are kept, open windows are read, and reports are typed") {
    scripted { script =>
      script.rows(at("00:00:07", "a", 1), at("00:01:10", "a", 2)).rows(at("00:00:30", "a", 4))
      script.expect(Row(minute("00:00:00", "00:01:00"), "a", 1L, 1L)).expectLate(1)
      val query = script.streamingQuery
      assert(query.lateRows.select("v", "_reason").collect().toSeq == Seq(Row(4, "window_closed")))
      assert(Eventtide.lateRows(query, 0).count() == 1)
      assert(Eventtide.lateRows(spark, script.checkpoint).count() == 1)
      val progress = query.eventtideProgress.get
      assert(progress.emitted.contains(Instant.parse("2024-01-01T00:01:08Z")))
      assert(progress.late == Map("window_closed" -> 1L) && progress.onTime == 2)
      val substream = progress.inputs.head.substreams.head
      assert(substream.name == "a" && substream.rowsTotal == 3 && substream.state == "active")
      assert(query.blame.exists(_.contains("'a'")))
      val input = spark.createDataFrame(java.util.List.of[Row](), script.streamSchema)
      val open = Eventtide.openWindows(query, minutes(input)).select("n", "total")
      assert(open.collect().toSeq == Seq(Row(1L, 2L)))
    }
  }

  test("a checkpoint is described, and says whether a plan continues from it", Slow) {
    scripted { script =>
      script.rows(at("00:00:07", "a", 1), at("00:01:10", "a", 2))
      val report = Eventtide.checkpoint(script.streamingQuery)
      assert(report.windows.map(_.openKeys) == Seq(Some(1L)) && report.problems.isEmpty)
      assert(report.watermark.map(_.batchId).contains(report.committed))
      assert(report.continues.isEmpty)
      val rows = spark.readStream.format("rate").load()
      val input = rows.selectExpr("timestamp AS ts", "'a' AS device", "1 AS v")
      val same = Eventtide.checkpoint(spark, script.checkpoint, minutes(input).results)
      assert(same.continues.contains(true))
      val other = minutes(input).delay("5s").results
      val changed = Eventtide.checkpoint(spark, script.checkpoint, other)
      assert(changed.continues.contains(false) && changed.refusal.exists(_.contains("delay")))
      assert(Eventtide.orphanedLateFiles(spark, script.checkpoint).isEmpty)
      assert(Eventtide.compactLate(spark, script.checkpoint) == CompactedLateFiles(0, 0, 0))
    }
  }

  test("a script restarts, and drains every window") {
    scripted { script =>
      script.rows(at("00:00:07", "a", 1)).expect().stop().waiting(at("00:00:08", "a", 2))
      script.restart().expect().drain()
      script.expect(Row(minute("00:00:00", "00:01:00"), "a", 2L, 3L))
    }
  }

  test("a wrong expectation of a script lists the differences", Slow) {
    scripted { script =>
      script.rows(at("00:00:07", "a", 1), at("00:01:10", "a", 2))
      val error = intercept[AssertionError](script.expect(Row("a")))
      assert(error.getMessage.contains("missing: [a]") && error.getMessage.contains("unexpected: "))
      assertThrows[AssertionError](script.expectWatermark("2024-01-01 00:01:09"))
    }
  }

  private def batch(rows: (String, String, Int)*): DataFrame = spark
    .createDataFrame(rows)
    .selectExpr("to_timestamp('2024-01-01 ' || _1) AS ts", "_2 AS device", "_3 AS v")

  test("windows that grow may begin at any time within their size") {
    val growing =
      Eventtide.window(batch(("00:00:35", "a", 1))).eventTime("ts").cumulate("1m", "20s")
    val results = growing.offset("30s").agg(count(lit(1)).as("n")).results
    val bounds =
      results.selectExpr("second(window.start)", "minute(window.end)", "second(window.end)")
    assert(bounds.collect().toSet == Set(Row(30, 0, 50), Row(30, 1, 10), Row(30, 1, 30)))
  }

  test("written results are repaired with late rows", Slow) {
    def averages(rows: DataFrame) = minutes(rows).agg(avg("v").as("mean"))
    val onTime = Seq(("00:00:01", "a", 1), ("00:01:10", "a", 5), ("00:00:02", "b", 3))
    val late = Seq(("00:00:03", "a", 9), ("00:02:04", "c", 2))
    val written = averages(batch(onTime: _*)).results
    val source = batch(onTime ++ late: _*)
    val repaired = Eventtide.repair(written, batch(late: _*), averages(source), source)
    val rows = repaired.selectExpr("minute(window.start)", "device", "mean", "changed").collect()
    assert(
      rows.toSet == Set(
        Row(0, "a", 5.0, "corrected"),
        Row(1, "a", 5.0, "unchanged"),
        Row(0, "b", 3.0, "unchanged"),
        Row(2, "c", 2.0, "new")
      )
    )
  }

  test("values that Spark cannot compare are repaired, too", Slow) {
    val byDevice = expr("map_from_entries(collect_list(struct(device, v)))").as("by_device")
    def maps(rows: DataFrame) =
      Eventtide
        .window(rows)
        .eventTime("ts")
        .tumbling("1m")
        .agg(byDevice, max("nested").as("nested"))
    def nested(rows: (String, String, Int)*) = batch(rows: _*)
      .withColumn("nested", expr("struct(v AS v, array(CAST(v AS DOUBLE), double('NaN')) AS all)"))
    val onTime = Seq(("00:00:01", "a", 1), ("00:01:10", "b", 5))
    val late = Seq(("00:01:20", "c", 2))
    val source = nested(onTime ++ late: _*)
    val written = maps(nested(onTime: _*)).results
    val repaired = Eventtide.repair(written, nested(late: _*), maps(source), source)
    assert(
      repaired.selectExpr("by_device['c']", "changed").collect().toSet ==
        Set(Row(null, "unchanged"), Row(2, "corrected"))
    )
  }

  test("late rows merge sessions, and the results they replace are gone", Slow) {
    def sessions(rows: DataFrame) =
      Eventtide.window(rows).eventTime("ts").keyBy("device").session("10s").agg(sum("v").as("s"))
    val onTime = Seq(("00:00:01", "a", 1), ("00:00:15", "a", 2), ("00:05:00", "a", 4))
    val late = Seq(("00:00:08", "a", 8))
    val source = batch(onTime ++ late: _*)
    val written = sessions(batch(onTime: _*)).results
    val repaired = Eventtide.repair(written, batch(late: _*), sessions(source), source)
    assert(
      repaired.select("s", "changed").collect().toSet ==
        Set(Row(11L, "corrected"), Row(4L, "unchanged"))
    )
  }

  test("what cannot be repaired is refused") {
    val rows = batch(("00:00:01", "a", 1))
    def refused(window: WindowBuilder, results: DataFrame = rows): String =
      intercept[EventtideException](Eventtide.repair(results, rows, window, rows)).problem
    assert(refused(minutes(rows)).contains("are not the columns of the window"))
    assert(refused(Eventtide.window().tumbling("1m")).contains("does not name its event time"))
    assert(refused(Eventtide.window().eventTime("ts").byCount(3)).contains("alone does not"))
    assert(
      refused(Eventtide.window().eventTime("ts").sliding("1m", "1s")).contains("may lack rows")
    )
    val stream = spark.readStream.format("rate").load()
    assert(refused(minutes(rows), stream).contains("is a stream"))
  }

  test("a window starts its own writer, drains, and refuses a writer of other rows", Slow) {
    val folder = Files.createTempDirectory("rows").toString
    batch(("00:00:01", "a", 1), ("00:00:02", "a", 2)).write.mode("append").parquet(folder)
    val rows = spark.readStream.schema("ts timestamp, device string, v int").parquet(folder)
    val counts = minutes(rows)
    def writer(of: DataFrame) = of.writeStream.format("memory").trigger(Trigger.AvailableNow())
    val query = counts.start(writer(counts.results.select("n")).queryName("counted"), drain = true)
    query.awaitTermination()
    assert(spark.table("counted").collect().toSeq == Seq(Row(2L)))
    val error = intercept[EventtideException](counts.start(writer(rows).queryName("other")))
    assert(error.condition == "SETTING_CONFLICT" && error.problem.contains("does not write"))
    val plain = writer(rows).queryName("plain")
    assert(
      intercept[EventtideException](Eventtide.drain(plain)).condition == "DRAIN_WITHOUT_WATERMARK"
    )
  }

  test("a query begins with a history, and goes on with its stream", Slow) {
    val folder = Files.createTempDirectory("rows").toString
    val rows = spark.readStream.schema("ts timestamp, device string, v int").parquet(folder)
    val counts = minutes(rows)
    val written = Files.createTempDirectory("results").toString
    val writer = counts.results
      .select("n")
      .writeStream
      .format("parquet")
      .option("path", written)
      .option("checkpointLocation", Files.createTempDirectory("checkpoint").toString)
    def results = spark.read.parquet(written).collect().toSet
    val history = batch(("00:00:01", "a", 1), ("00:01:30", "a", 2))
    Eventtide.backfill(writer, history).awaitTermination()
    assert(results == Set(Row(1L)))
    batch(("00:01:31", "a", 3)).write.mode("append").parquet(folder)
    counts.start(writer.trigger(Trigger.AvailableNow()), drain = true).awaitTermination()
    assert(results == Set(Row(1L), Row(2L)))
    val error = intercept[EventtideException](Eventtide.backfill(writer, rows))
    assert(error.condition == "BACKFILL_STREAM")
  }

  test("durations of Scala are durations") {
    import scala.concurrent.duration._
    val options =
      Eventtide.window().sliding(1.minute, 10.seconds).delay(250.millis).request.toOptions
    assert(
      options("size") == "PT60S" && options("slide") == "PT10S" && options("delay") == "PT0.25S"
    )
  }

  test("a typed Dataset has windows, and Spark's own withWatermark stays Spark's") {
    val session = spark
    import session.implicits._
    val typed = batch(("00:00:01", "a", 1)).as[Reading]
    assert(minutes(typed).results.select("n").as[Long].collect().toSeq == Seq(1L))
    val ours = typed.withWatermark("ts", WatermarkPolicy.maxEventTime)
    assert(ours.columns.toSeq == Seq("ts", "device", "v"))
    assert(typed.withWatermark("ts", "1 minute").isInstanceOf[Dataset[Reading @unchecked]])
    assert(typed.withIngestionTime("at").columns.contains("at"))
  }

  test("a policy in a jar is found by its name, with its parameters as text") {
    val folder = Files.createTempDirectory("jar")
    val services = Files.createDirectories(folder.resolve("META-INF/services"))
    val kind = classOf[HalfLag].getName
    Files.writeString(services.resolve(classOf[CustomPolicyKind].getName), kind): Unit
    val thread = Thread.currentThread
    val before = thread.getContextClassLoader
    thread.setContextClassLoader(new URLClassLoader(Array(folder.toUri.toURL), before))
    try {
      val policy = WatermarkPolicy.fromJar("half_lag", "lag" -> "10s", "steps" -> "3")
      assert(policy.options == Map("policy" -> "half_lag", "lag" -> "PT10S", "steps" -> "3"))
      assert(WatermarkPolicy.fromJar("half_lag", "lag" -> "10s").options("steps") == "2")
      val rows = spark.readStream.format("rate").load()
      assert(Eventtide.withWatermark(rows, "timestamp", policy).isStreaming)
      val wrong = WatermarkPolicy.fromJar("half_lag", "lag" -> "10s", "step" -> "3")
      val error = intercept[EventtideException](rows.withWatermark("timestamp", wrong))
      assert(error.condition == "UNKNOWN_OPTION")
    } finally thread.setContextClassLoader(before)
  }

  test("a window is explained with its watermark") {
    val rows = spark.readStream.format("rate").load()
    val counts = minutes(rows.selectExpr("timestamp AS ts", "'a' AS device", "1 AS v"))
    val lines = Eventtide.explained(counts.results).linesIterator.toSeq
    assert(lines.head == "watermark on ts" && lines.contains("window tumbling(size=PT60S)"))
  }
}

/** A policy as a user writes it. */
final class HalfLag
    extends CustomPolicyKind(
      "half_lag",
      ParamSpec.Lag,
      ParamSpec.count("steps", 2, "how often the lag is halved")
    ) {
  def newPolicy(values: Seq[Long]): KernelPolicy = new KernelPolicy {
    private var top = Long.MinValue
    def observe(now: Long, ts: Long): Unit = top = math.max(top, ts)
    def known: Boolean = top > Long.MinValue
    def watermark: Long = top - (values.head >> values(1))
    def save(out: DataOutput): Unit = out.writeLong(top)
    def restore(in: DataInput): Unit = top = in.readLong()
  }
}

final case class Reading(ts: java.sql.Timestamp, device: String, v: Int)
