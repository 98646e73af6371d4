package io.eventtide.spark.sql

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.sql.Timestamp

import org.apache.commons.io.FileUtils
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.Row
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.EventtideException

class ReportFunctionSuite extends AnyFunSuite with SqlPlans {
  private val folder = Files.createTempDirectory("sql").toFile

  private lazy val (query, checkpoint) = {
    val path = s"$folder/checkpoint"
    val rows = s"$folder/rows"
    spark
      .sql("SELECT timestamp_seconds(id) AS ts, CAST(id % 2 AS STRING) AS device FROM range(100)")
      .write
      .parquet(rows)
    spark.readStream
      .schema("ts TIMESTAMP, device STRING")
      .parquet(rows)
      .createOrReplaceTempView("r")
    val counts =
      """SELECT * FROM eventtide_window(TABLE(r), ts, with_fixed_lag('5s'), substream => device,
        |  name => 'rows', size => '10s', agg => 'count(*) AS n')""".stripMargin
    val run = spark
      .sql(counts)
      .writeStream
      .queryName("counts")
      .format("noop")
      .option("checkpointLocation", path)
      .trigger(Trigger.AvailableNow())
      .start()
    run.awaitTermination()
    (run: StreamingQuery, path)
  }

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set(
      "spark.sql.streaming.stateStore.providerClass",
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
  }

  private def at(second: Int) = new Timestamp(second * 1000L)

  private val substreams =
    """SELECT batch_id, emitted, on_time, late['window_closed'], input, input_name, input_state,
      |  substream, state, top, watermark, lag_behind_leader, rows_total FROM """.stripMargin

  private def expected(input: String, substream: Int, lead: Int): Row = {
    val behind = java.time.Duration.ofSeconds(lead.toLong)
    Row(
      1L,
      at(93),
      100L,
      null,
      0,
      input,
      "active",
      s"$substream",
      "active",
      at(98 + substream),
      at(93 + substream),
      behind,
      50L
    )
  }

  test("progress has a row for each substream, by the name and by the id of a query") {
    for (of <- Seq(query.name, query.id.toString)) {
      val rows = spark.sql(s"$substreams eventtide_progress('$of') ORDER BY substream").collect()
      assert(rows.toSeq == Seq(expected("rows", 0, 1), expected("rows", 1, 0)))
    }
  }

  test("a checkpoint has the same rows") {
    query.id: Unit
    val rows = spark.sql(s"$substreams eventtide_checkpoint('$checkpoint') ORDER BY substream")
    assert(rows.collect().toSeq == Seq(expected("rows", 0, 1), expected("rows", 1, 0)))
    val none = spark.sql(s"SELECT * FROM eventtide_checkpoint('$folder/none')")
    val empty = intercept[EventtideException](none.collect())
    assert(empty.getCondition == "CHECKPOINT_EMPTY")
    assert(empty.getQueryContext.head.fragment.startsWith("eventtide_checkpoint"))
    val damaged = s"$folder/damaged"
    FileUtils.copyDirectory(new File(checkpoint), new File(damaged))
    new File(s"$damaged/eventtide/ledger").listFiles.foreach { file =>
      FileUtils.writeStringToFile(file, "v", UTF_8)
    }
    val refused = intercept[EventtideException] {
      spark.sql(s"SELECT * FROM eventtide_checkpoint('$damaged')").collect()
    }
    assert(refused.getCondition.startsWith("LEDGER"))
  }

  test("blame is a sentence") {
    val said = spark.sql(s"SELECT blame FROM eventtide_blame('${query.name}')").head().getString(0)
    assert(said.contains("93") || said.contains("00:01:3"), said)
  }

  test("a view of a report has the present state each time it is read", Slow) {
    spark.sql("CREATE OR REPLACE TEMP VIEW live AS SELECT * FROM eventtide_progress('later')")
    val unknown = intercept[EventtideException](spark.table("live").collect())
    assert(unknown.getCondition == "QUERY_UNKNOWN")
    assert(unknown.getQueryContext.head.fragment == "eventtide_progress('later')")
    val marked = "SELECT * FROM eventtide_watermark(TABLE(events), ts, with_fixed_lag('5s'))"
    val later = spark.sql(marked).writeStream.queryName("later").format("noop").start()
    try {
      later.processAllAvailable()
      assert(spark.table("live").count() >= 1)
      assert(spark.sql("SELECT * FROM live a JOIN live b ON a.input = b.input").count() >= 1)
    } finally later.stop()
  }

  test("a query is not shown to another session, neither while it runs nor later", Slow) {
    val marked = "SELECT * FROM eventtide_watermark(TABLE(events), ts, with_fixed_lag('5s'))"
    val run = spark.sql(marked).writeStream.queryName("private").format("noop").start()
    val other = spark.newSession()
    def refused(query: String): String = intercept[EventtideException] {
      other.sql(s"SELECT * FROM eventtide_progress('$query')").collect()
    }.getCondition
    spark
      .sql("SELECT * FROM eventtide_progress('private')")
      .createOrReplaceGlobalTempView("shared")
    try {
      run.processAllAvailable()
      assert(spark.sql("SELECT * FROM eventtide_progress('private')").count() == 1)
      assert(spark.table("global_temp.shared").count() == 1)
      intercept[EventtideException](other.table("global_temp.shared").collect())
      assert(refused("private") == "QUERY_UNKNOWN" && refused(run.id.toString) == "QUERY_UNKNOWN")
    } finally run.stop()
    assert(spark.sql("SELECT * FROM eventtide_progress('private')").count() == 1)
    assert(refused("private") == "QUERY_UNKNOWN" && refused(run.id.toString) == "QUERY_UNKNOWN")
  }

  test("a name is the query that has stopped last, if none of that name runs", Slow) {
    val marked = "SELECT * FROM eventtide_watermark(TABLE(events), ts, with_fixed_lag('5s')"
    for (name <- Seq("first", "second", "third")) {
      val rows = spark.sql(s"$marked, name => '$name')")
      val run = rows.writeStream.queryName("again").format("noop").start()
      run.processAllAvailable()
      run.stop()
    }
    val shown = spark.sql("SELECT DISTINCT input_name FROM eventtide_progress('again')").collect()
    assert(shown.map(_.getString(0)).toSeq == Seq("third"))
  }

  test("late rows are a table and a stream") {
    query.id: Unit
    val late = s"eventtide_late('$checkpoint', window => 0, missing => 'skip')"
    assert(spark.sql(s"SELECT ts, device, _reason FROM $late").count() == 0)
    val argument = s"eventtide_late('$checkpoint', stream => true, max_batches_per_trigger => 5)"
    val word =
      Option.unless(SPARK_VERSION.startsWith("4.1"))(s"STREAM eventtide_late('$checkpoint')")
    for (written <- Seq(argument) ++ word) {
      val stream = spark.sql(s"SELECT * FROM $written")
      assert(stream.isStreaming && stream.columns.contains("_late_by"))
    }
    val wrong = refusal(s"SELECT * FROM eventtide_late('$checkpoint', window => 7)")
    assert(wrong.getCondition == "LATE_LOG_WINDOW")
  }

  test("a function describes itself") {
    val said = spark.sql("DESCRIBE FUNCTION EXTENDED eventtide_window").collect().mkString("\n")
    assert(said.contains("The results of windows") && said.contains("allowed_lateness"))
    TableFunctions.all.foreach { function =>
      assert(spark.sql(s"DESCRIBE FUNCTION ${function.name}").count() > 0)
    }
  }
}
