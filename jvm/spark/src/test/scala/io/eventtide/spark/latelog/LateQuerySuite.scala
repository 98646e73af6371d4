package io.eventtide.spark.latelog

import java.nio.file.Files
import java.util.UUID

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.options.{LateMode, LateSettings}
import io.eventtide.spark.{DirectFiles, EventtideException, LocalSession}

class LateQuerySuite extends AnyFunSuite with LocalSession {
  private val log = LateSettings(LateMode.Log, None)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.experimental.extraStrategies = Seq(MarkLateStrategy(spark))
  }

  private def newQuery(settings: LateSettings = log): LateQuery = new LateQuery(spark, settings)

  private def running(query: LateQuery)(test: LateQuery => Unit): Unit =
    try test(query.start())
    finally query.stop()

  private def refusal(action: => Any): EventtideException =
    intercept[EventtideException](action)

  private def failure(query: LateQuery): EventtideException = {
    val stopped = intercept[StreamingQueryException](query.awaitIdle())
    Iterator
      .iterate[Throwable](stopped)(_.getCause)
      .takeWhile(_ != null)
      .collectFirst { case ours: EventtideException => ours }
      .get
  }

  test("the log has what is late, while the query runs and after; the report has the numbers") {
    val query = newQuery()
    running(query) { _ =>
      query.feed(10)
      assert(query.late.isEmpty && query.read.columns.contains("_reason"))
      query.feed(5, 6, 20)
      assert(query.late == Seq(5, 6))
      query.feed(30)
      assert(query.report.contains("\"late\":{\"behind_watermark\":2}"))
      query.feed(7)
      assert(query.report.contains("\"late\":{\"behind_watermark\":3}"))
    }
    assert(query.late == Seq(5, 6, 7))
    val columns = Seq("device", "_late_by", "_watermark", "_batch_id")
    val expected = spark.sql("select 'a', interval '23' second, timestamp_seconds(30), 3L")
    assert(
      query.read.where("_batch_id = 3").selectExpr(columns: _*).collect().toSeq ==
        expected.selectExpr("a", "* except (a)").collect().toSeq
    )
  }

  test("columns and filters are pushed down to Parquet") {
    val query = newQuery()
    running(query) { _ => query.feed(10); query.feed(5) }
    val found = query.read.where("_batch_id = 1 and device = 'a'").select("_windows_missed")
    assert(found.collect().toSeq == Seq(Row(1)))
    val plan = found.queryExecution.executedPlan.toString
    assert(plan.contains("EqualTo(_batch_id,1)") && !plan.contains("_substream"))
  }

  test("a query that was killed before the commit has its late rows once") {
    val query = newQuery()
    running(query) { _ => query.feed(10); query.feed(5, 6) }
    query.uncommit(1)
    val killed = query.lateFiles
    assert(query.late.isEmpty && new LateOrphans(query.root, hadoopConf).find().isEmpty)
    running(query.next(log)) { again =>
      again.awaitIdle()
      again.feed(7)
      assert(again.late == Seq(5, 6, 7) && again.report.contains("\"behind_watermark\":3"))
      val orphans = new LateOrphans(query.root, hadoopConf)
      val all = again.lateFiles
      assert(orphans.find().length == killed && orphans.clean(Nil).length == killed)
      assert(again.late == Seq(5, 6, 7) && again.lateFiles == all - killed)
      assert(orphans.find().isEmpty)
    }
  }

  private def hadoopConf = spark.sessionState.newHadoopConf()

  test(
    "a batch that was written down as logged stays so when it is run again under late='count'",
    Slow
  ) {
    val query = newQuery()
    running(query) { _ => query.feed(10); query.feed(5) }
    query.uncommit(1)
    running(query.next(LateSettings(LateMode.Count, None))) { again =>
      again.awaitIdle()
      again.feed(6)
      assert(again.late == Seq(5) && again.report.contains("\"behind_watermark\":2"))
      assert(new LateOrphans(query.root, hadoopConf).find().isEmpty)
    }
  }

  test("a batch that was written down as counted stays so when it is run again under late='log'") {
    val query = newQuery(LateSettings(LateMode.Count, None))
    running(query) { _ => query.feed(10); query.feed(5) }
    query.uncommit(1)
    running(query.next(log)) { again =>
      again.awaitIdle()
      again.feed(6)
      assert(again.late == Seq(6) && again.report.contains("\"behind_watermark\":2"))
      assert(new LateOrphans(query.root, hadoopConf).find().length == 1)
    }
  }

  test("the log outlives Spark's own logs, and counts go on over a restart", Slow) {
    withConf("spark.sql.streaming.minBatchesToRetain", "2") {
      val query = newQuery()
      running(query) { _ => query.feed(100); (1L to 5L).foreach(query.feed(_)) }
      running(query.next(log)) { again =>
        (6L to 9L).foreach(again.feed(_))
        assert(again.commits < 10 && again.late == (1L to 9L))
        assert(again.report.contains("\"behind_watermark\":9"))
      }
    }
  }

  test("a query whose checkpoint can neither rename nor replace has its late rows once") {
    withConf("spark.sql.streaming.checkpointFileManagerClass", classOf[DirectFiles].getName) {
      val query = newQuery()
      running(query) { _ => query.feed(10); query.feed(5) }
      query.uncommit(1)
      running(query.next(log)) { again =>
        again.awaitIdle()
        again.feed(6)
        assert(again.late == Seq(5, 6))
      }
    }
  }

  private def readAvailable(query: LateQuery, into: String): Seq[Long] = {
    val read = query.readStream.writeStream
      .format("parquet")
      .option("checkpointLocation", s"$into/checkpoint")
      .trigger(Trigger.AvailableNow())
      .start(s"$into/rows")
    assert(read.awaitTermination(60000))
    LateQuery.seconds(spark.read.schema(query.readStream.schema).parquet(s"$into/rows"))
  }

  test("a stream of the log has each row once, over its restarts and those of the query") {
    val query = newQuery()
    val into = Files.createTempDirectory("rows").toString
    running(query) { _ =>
      query.feed(10)
      assert(readAvailable(query, into).isEmpty)
      query.feed(5, 6)
      assert(readAvailable(query, into) == Seq(5, 6))
      assert(readAvailable(query, into) == Seq(5, 6))
      query.feed(11)
      query.feed(7)
    }
    query.uncommit(3)
    assert(readAvailable(query, into) == Seq(5, 6))
    running(query.next(log)) { again =>
      again.awaitIdle()
      assert(readAvailable(query, into) == Seq(5, 6, 7))
    }
  }

  test("a stream of the log sees rows as they become late, and is quiet in between", Slow) {
    val query = newQuery()
    running(query) { _ =>
      query.feed(10)
      val read = query.readStream.writeStream.format("memory").queryName("late_rows").start()
      try {
        query.feed(5)
        read.processAllAvailable()
        val batch = read.lastProgress.batchId
        query.feed(11)
        read.processAllAvailable()
        query.feed(6)
        read.processAllAvailable()
        assert(LateQuery.seconds(spark.table("late_rows")) == Seq(5, 6))
        assert(read.lastProgress.batchId <= batch + 2)
      } finally read.stop()
    }
  }

  test("a stream of the log may take some batches at a time", Slow) {
    val query = newQuery()
    def take(options: (String, String)*) = {
      val sizes = ArrayBuffer.empty[Long]
      val limited = spark.readStream
        .format("eventtide-late")
        .option("checkpoint", query.checkpoint)
        .options(options.toMap)
        .load()
      val run = limited.writeStream
        .trigger(Trigger.AvailableNow())
        .foreachBatch { (rows: DataFrame, _: Long) => sizes += rows.count(): Unit }
        .start()
      assert(run.awaitTermination(60000))
      sizes.toSeq
    }
    running(query) { _ =>
      query.feed(10)
      query.feed(5)
      query.feed(11)
      query.feed(6, 7)
      query.feed(8)
      val running = "query" -> UUID.randomUUID().toString // of another driver
      assert(take() == Seq(4) && take("maxBatchesPerTrigger" -> "1", running) == Seq(1, 2, 1))
      assert(take("maxBatchesPerTrigger" -> "2") == Seq(3, 1))
    }
    Seq("0", "all").foreach { text =>
      assert(refusal(take("maxBatchesPerTrigger" -> text)).condition == "INVALID_COUNT")
    }
  }

  test("late rows go to a folder that queries share, each to one of its own") {
    val folder = Files.createTempDirectory("shared").toFile
    val shared = LateSettings(LateMode.Log, Some(folder.getPath))
    val queries = Seq(5L, 6L).map { second =>
      val query = newQuery(shared)
      running(query) { _ => query.feed(10); query.feed(second) }
      query
    }
    assert(queries.map(_.late) == Seq(Seq(5), Seq(6)) && folder.list().length == 2)
    val moved = failure(queries.head.next(log).start())
    assert(moved.condition == "LATE_LOG_CHANGED" && moved.getMessage.contains(folder.getPath))
  }

  test("a foreachBatch that reads its frame twice has late rows once") {
    val query = newQuery()
    query.add(10)
    query.add(5, 6)
    val run = query.marked.writeStream
      .foreachBatch { (rows: org.apache.spark.sql.DataFrame, _: Long) =>
        rows.collect()
        rows.limit(1).collect(): Unit
      }
      .option("checkpointLocation", query.checkpoint)
      .trigger(Trigger.AvailableNow())
      .start()
    assert(run.awaitTermination(60000) && query.late == Seq(5, 6))
  }

  test("of several windows one is chosen, or the error lists them", Slow) {
    val query = newQuery()
    val both = MarkLate.on(query.marked.withColumn("more", lit(1)), log)
    try {
      query.start(both)
      query.feed(10)
      query.feed(5)
    } finally query.stop()
    val error = refusal(query.read)
    assert(error.condition == "LATE_LOG_WINDOW" && error.getMessage.contains("is missing"))
    assert(error.getMessage.contains("0 (ts TIMESTAMP,device STRING,more INT"))
    assert(error.getMessage.contains("1 (ts TIMESTAMP,device STRING)"))
    def read(window: String) = spark.read
      .format("eventtide-late")
      .options(Map("checkpoint" -> query.checkpoint, "window" -> window))
      .load()
    assert(read("1").count() == 1 && read("0").count() == 0)
    assert(refusal(read("2")).getMessage.contains("'2'"))
  }

  test("columns may come and go from run to run, but not change their types", Slow) {
    val query = newQuery()
    running(query) { _ => query.feed(10); query.feed(5) }
    running(query.next(log, _.withColumn("more", lit(1)))) { _.feed(6) }
    running(query.next(log, _.drop("device"))) { _.feed(7) }
    val rows = query.read.select("_event_time", "device", "more").orderBy("_event_time").collect()
    assert(
      rows.map(row => (row.isNullAt(1), row.isNullAt(2))).toSeq ==
        Seq((false, true), (false, false), (true, true))
    )
    val error = failure(query.next(log, _.withColumn("more", lit("text"))).start())
    assert(error.condition == "LATE_LOG_CHANGED" && error.getMessage.contains("more STRING"))
    assert(query.late == Seq(5, 6, 7))
  }

  test("a column that the log cannot hold is refused before anything starts") {
    val query = newQuery()
    val next = query.next(log, _.withColumn("_reason", lit(1)))
    assert(failure(next.start()).condition == "LATE_COLUMN_NAME")
    running(query.next(LateSettings(LateMode.Count, None), _.withColumn("_reason", lit(1)))) {
      _.feed(10)
    }
  }

  test("rows that are only counted are in the report, and there is no log") {
    val query = newQuery(LateSettings(LateMode.Count, None))
    running(query) { _ =>
      query.feed(10)
      query.feed(5)
      assert(query.report.contains("\"behind_watermark\":1"))
    }
    assert(refusal(query.read).condition == "LATE_LOG_MISSING")
  }

  test("under late='fail' a late row stops the query, and none of its batch counts") {
    val query = newQuery(LateSettings(LateMode.Fail, None))
    running(query) { _ =>
      query.feed(10)
      query.add(5)
      val error = failure(query)
      assert(error.condition == "LATE_ROW" && error.getMessage.contains("1970-01-01T00:00:05Z"))
    }
  }

  test("a reader without a checkpoint is told what to give") {
    val error = refusal(spark.read.format("eventtide-late").load())
    assert(error.condition == "MISSING_OPTION" && error.getMessage.contains("'checkpoint'"))
  }
}
