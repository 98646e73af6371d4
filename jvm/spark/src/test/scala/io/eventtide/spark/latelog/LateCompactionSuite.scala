package io.eventtide.spark.latelog

import java.nio.file.{Files, Path => LocalPath, Paths}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.SparkException
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager
import org.apache.spark.sql.functions.col
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.options.{LateMode, LateSettings}
import io.eventtide.spark.query.doctor.CheckpointReport
import io.eventtide.spark.{CheckpointConf, EventtideException, LocalSession}

/** A file manager whose writers of index files end as a killed process would. */
final class Killed(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream =
    if (path.getName.startsWith("compact-")) throw new SparkException("killed")
    else super.createAtomic(path, overwriteIfPossible)
}

class LateCompactionSuite extends AnyFunSuite with LocalSession {
  private val log = LateSettings(LateMode.Log, None)
  private val retain = "spark.sql.streaming.minBatchesToRetain"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.experimental.extraStrategies = Seq(MarkLateStrategy(spark))
  }

  /** Batches 1 to `last` have one late row each, of the second of their number. */
  private def feed(query: LateQuery, batches: Seq[Long]): Unit =
    withConf(retain, "2") {
      query.start()
      try batches.foreach(query.feed(_))
      finally query.stop()
    }

  private def written(last: Long, settings: LateSettings = log): LateQuery = {
    val query = new LateQuery(spark, settings)
    feed(query, 1000L +: (1L to last))
    query
  }

  private def compact(query: LateQuery, confirmed: Seq[String] = Nil): CompactionResult =
    new LateCompaction(spark, query.root, every = 4).run(confirmed)

  private def local(query: LateQuery, name: String): LocalPath =
    Paths.get(query.root.toUri).resolve(name)

  private def names(query: LateQuery, folder: String): Seq[String] = Files
    .list(local(query, folder))
    .iterator
    .asScala
    .map(_.getFileName.toString)
    .filterNot(_.startsWith("."))
    .toSeq
    .sorted

  private def problems(query: LateQuery): String =
    new CheckpointReport(query.root, spark.sessionState.newHadoopConf(), None).json

  private def newFolder(): LocalPath = Files.createTempDirectory("rows")

  test(
    "old batches become one file a group, with the same rows in the order of their batches",
    Slow
  ) {
    val query = written(11)
    val before = query.read.collect().toSet
    assert(compact(query) == CompactionResult(batches = 7, filesBefore = 7, filesAfter = 2))
    assert(
      names(query, "eventtide/late").filter(_.startsWith("c")) == Seq("compact-1-3", "compact-4-7")
    )
    assert(query.read.collect().toSet == before && query.late == (1L to 11L))
    val file = names(query, "late").find(_.startsWith("4-7-0-")).get
    val batches = spark.read.parquet(local(query, s"late/$file").toString).select("_batch_id")
    assert(batches.collect().map(_.getLong(0)).toSeq == Seq(4, 5, 6, 7))
    assert(query.read.where("_batch_id = 5").count() == 1)
    assert(query.read.where("_event_time < timestamp_seconds(7)").count() == 6)
    assert(problems(query).contains("\"problems\":[]"))
  }

  test("files that were replaced stay until the next run, or until they are cleaned", Slow) {
    val query = written(11)
    compact(query)
    assert(query.lateFiles == 11 + 2)
    assert(compact(query) == CompactionResult(0, 0, 0) && query.lateFiles == 4 + 2)
    assert(query.late == (1L to 11L))
  }

  test("the query goes on while and after its log is compacted", Slow) {
    val query = written(11)
    compact(query)
    withConf(retain, "2") {
      val again = query.next(log)
      again.start()
      try {
        (12L to 20L).foreach(again.feed(_))
        compact(again)
        (21L to 40L).foreach(again.feed(_))
        compact(again)
        (41L to 45L).foreach(again.feed(_))
      } finally again.stop()
    }
    assert(query.late == (1L to 45L) && problems(query).contains("\"problems\":[]"))
    feed(query.next(log), 46L to 48L)
    assert(query.late == (1L to 48L) && problems(query).contains("\"problems\":[]"))
    assert(names(query, "eventtide/late").length < 25)
  }

  test(
    "a compaction that is killed before its index file changes nothing, and its files go",
    Slow
  ) {
    val query = written(11)
    withConf(CheckpointConf.Key, classOf[Killed].getName) {
      assert(intercept[SparkException](compact(query)).getMessage == "killed")
    }
    assert(query.late == (1L to 11L) && query.lateFiles == 11 + 1)
    val orphans = new LateOrphans(query.root, spark.sessionState.newHadoopConf())
    assert(orphans.find().isEmpty) // it might still be at work
    assert(compact(query).filesAfter == 2)
    assert(orphans.clean(Nil).length == 7 + 1 && query.late == (1L to 11L))
    assert(query.lateFiles == 4 + 2)
  }

  test("one that is killed while it removes what was replaced leaves all rows", Slow) {
    val query = written(11)
    compact(query)
    val conf = spark.sessionState.newHadoopConf()
    val replaced = new LateOrphans(query.root, conf).find().map(_.path)
    assert(replaced.length == 7)
    replaced.foreach { path =>
      path.getFileSystem(conf).delete(path, false)
      assert(query.late == (1L to 11L))
    }
    assert(new LateOrphans(query.root, conf).find().isEmpty)
  }

  test("of two compactions at the same time one ends, and each row is there once", Slow) {
    val query = written(11)
    val error = withConf(CheckpointConf.Key, classOf[Opened].getName) {
      Opened.onOpen("eventtide/late/2", time = 3)(compact(query): Unit) // the first has its groups
      intercept[EventtideException](compact(query))
    }
    assert(error.condition == "CHECKPOINT_TAKEN_OVER")
    assert(query.late == (1L to 11L) && problems(query).contains("\"problems\":[]"))
    assert(compact(query).batches == 0 && query.late == (1L to 11L))
  }

  test("a stream has each row once, wherever it is when the log is compacted", Slow) {
    val query = written(1)
    // Each has read a number of batches that is no group's.
    val folders = (1 to 5).map { batches =>
      val into = newFolder()
      assert(query.stream(into, most = 2) == (1 to batches))
      feed(query.next(log), Seq(batches + 1L))
      batches -> into
    }
    feed(query.next(log), 7L to 11L)
    compact(query)
    compact(query) // the small files are gone
    folders.foreach { case (batches, into) =>
      assert(query.stream(into, most = batches) == (1L to 11L))
    }
    assert(query.stream(newFolder(), most = 1) == (1L to 11L))
    assert(query.stream(newFolder(), most = 100) == (1L to 11L))
  }

  test("a batch that Spark may run again is left alone", Slow) {
    val query = new LateQuery(spark, log)
    query.start()
    try { query.feed(1000); (1L to 11L).foreach(query.feed(_)) } // a hundred batches are kept
    finally query.stop()
    assert(compact(query) == CompactionResult(0, 0, 0))
  }

  test("rows that the files do not have are noticed before anything changes", Slow) {
    val query = written(11)
    val old =
      local(query, "late").toFile.listFiles.toSeq.filter(_.getName.matches("[1-7]-.*parquet"))
    val same = old.groupBy(_.length).values.find(_.length > 1).get.map(_.toPath)
    Files.write(same.head, Files.readAllBytes(same.last)) // with the row of another batch
    Files.deleteIfExists(same.head.resolveSibling(s".${same.head.getFileName}.crc"))
    val error = intercept[EventtideException](compact(query))
    assert(error.condition == "LATE_ROWS_UNBALANCED" && error.getMessage.contains("rows"))
    assert(names(query, "eventtide/late").count(_.startsWith("compact-")) < 2)
    assert(query.lateFiles >= 11)
  }

  test("files outside the checkpoint are compacted when their folder is named", Slow) {
    val shared = Files.createTempDirectory("shared").toString
    val query = written(11, LateSettings(LateMode.Log, Some(shared)))
    val error = intercept[EventtideException](compact(query))
    assert(error.condition == "LATE_FOLDER_UNCONFIRMED")
    assert(compact(query, Seq(shared)).batches == 7 && query.late == (1L to 11L))
  }

  test("columns that came and went are in the large file, null where a row had none", Slow) {
    val query = new LateQuery(spark, log)
    feed(query, Seq(1000L, 1L))
    feed(query.next(log, _.withColumn("more", col("ts"))), Seq(2L))
    feed(query.next(log, _.drop("device")), 3L to 9L)
    val before = query.read.collect().toSet
    assert(compact(query).filesAfter >= 1 && query.read.collect().toSet == before)
  }

  /** As a retention does it, up to a batch and with its files. */
  private def forget(query: LateQuery, last: Long): Unit = {
    val conf = CheckpointConf()
    val entries = new LateIndexReader(query.root, conf).entries(-1, last)
    val forgotten = LateIndexFile.forgotten(last)
    new LateIndexFiles(query.root, conf)
      .write(forgotten, Seq(LateIndexEntry.together(entries).json))
    val folder = local(query, "late").toFile
    folder.listFiles.filter(_.getName.matches(s"\\.?[1-$last]-0-.*")).foreach(_.delete())
  }

  test("rows that are forgotten do not come back with a file that was made meanwhile", Slow) {
    val query = written(11)
    compact(query)
    forget(query, 2) // by a retention that has not seen the file of batches 1 to 3
    assert(query.late == (3L to 11L) && query.read.count() == 9)
    assert(query.read.select("device").collect().length == 9)
    assert(query.read.where("_event_time < timestamp_seconds(9)").select("_reason").count() == 6)
    assert(query.read.as("a").join(query.read.as("b"), Seq("ts")).count() == 9)
    assert(query.stream(newFolder(), most = 2) == (3L to 11L))
    assert(problems(query).contains("\"problems\":[]"))
    feed(query.next(log), Seq(12L, 13L))
    assert(query.late == (3L to 13L))
  }

  test("a compaction ends where a retention has forgotten meanwhile what it puts together", Slow) {
    val query = written(11)
    withConf(CheckpointConf.Key, classOf[Opened].getName) {
      Opened.onOpen("eventtide/late/7", time = 2)(forget(query, 2)) // first to look for orphans
      assert(compact(query) == CompactionResult(0, 0, 0))
    }
    assert(query.late == (3L to 11L) && problems(query).contains("\"problems\":[]"))
    assert(compact(query).batches == 5 && query.late == (3L to 11L))
  }

  test("it ends where files go that it is reading", Slow) {
    val query = written(11)
    withConf("fs.file.impl.disable.cache", "true") {
      withConf("fs.file.impl", classOf[OpenedFiles].getName) {
        OpenedFiles.onOpen("/late/2-0-")(forget(query, 3))
        assert(compact(query) == CompactionResult(0, 0, 0))
      }
    }
    assert(query.late == (4L to 11L) && problems(query).contains("\"problems\":[]"))
    assert(compact(query).batches == 4 && query.late == (4L to 11L))
  }
}
