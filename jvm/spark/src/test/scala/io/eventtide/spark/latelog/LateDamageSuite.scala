package io.eventtide.spark.latelog

import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.options.{LateMode, LateSettings}
import io.eventtide.spark.query.doctor.CheckpointReport
import io.eventtide.spark.{CheckpointConf, EventtideException, LocalSession}

/** A late log that has lost a part: everybody says so, and nothing more is lost. */
@Slow
class LateDamageSuite extends AnyFunSuite with LocalSession {
  private val log = LateSettings(LateMode.Log, None)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.experimental.extraStrategies = Seq(MarkLateStrategy(spark))
  }

  private def conf = spark.sessionState.newHadoopConf()

  /** A query that was stopped after batches 1 to 3 had one late row each, of seconds 1 to 3. */
  private def written(settings: LateSettings = log): LateQuery = {
    val query = new LateQuery(spark, settings)
    query.start()
    try { query.feed(10); (1L to 3L).foreach(query.feed(_)) }
    finally query.stop()
    query
  }

  private def local(query: LateQuery, name: String): LocalPath =
    Paths.get(query.root.toUri).resolve(name)

  private def delete(file: LocalPath): Unit = {
    Files.delete(file)
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc")): Unit
  }

  private def lateFile(query: LateQuery, batch: Long): LocalPath =
    Files
      .list(local(query, "late"))
      .iterator
      .asScala
      .find(_.getFileName.toString.startsWith(s"$batch-"))
      .get

  private def refusal(action: => Any): EventtideException = intercept[EventtideException](action)

  private def reader(query: LateQuery) =
    spark.read.format("eventtide-late").option("checkpoint", query.checkpoint)

  private def skipping(query: LateQuery): Seq[Long] =
    LateQuery.seconds(reader(query).option("missing", "skip").load())

  private def streamed(query: LateQuery, missing: String): Seq[Long] = {
    var seconds = Seq.empty[Long]
    val run = spark.readStream
      .format("eventtide-late")
      .option("checkpoint", query.checkpoint)
      .option("missing", missing)
      .load()
      .writeStream
      .trigger(Trigger.AvailableNow())
      .foreachBatch { (rows: DataFrame, _: Long) => seconds ++= LateQuery.seconds(rows): Unit }
      .start()
    assert(run.awaitTermination(60000))
    seconds
  }

  /** All say it; a reader that skips has these rows; nothing was deleted. */
  private def check(query: LateQuery, condition: String, word: String, left: Seq[Long]): Unit = {
    val late = query.lateFiles
    val orphans = new LateOrphans(query.root, conf)
    Seq(refusal(query.late), refusal(orphans.find()), refusal(orphans.clean(Nil))).foreach {
      error =>
        assert(error.condition == condition && error.pythonClass == "CheckpointError")
        assert(error.getMessage.contains(word))
    }
    assert(new CheckpointReport(query.root, conf, None).json.contains(condition))
    val stopped = intercept[StreamingQueryException](streamed(query, "fail"))
    assert(stopped.getCause.getMessage.contains(condition))
    assert(skipping(query) == left && streamed(query, "skip") == left)
    assert(query.lateFiles == late)
  }

  test("the last entry of the index is gone") {
    val query = written()
    delete(local(query, "eventtide/late/3"))
    check(query, "LATE_INDEX_UNBALANCED", "late rows up to batch 3 (3 behind_watermark)", Seq(1, 2))
  }

  test("all entries of the index are gone, and what the log is like is not") {
    val query = written()
    (1 to 3).foreach(batch => delete(local(query, s"eventtide/late/$batch")))
    check(query, "LATE_INDEX_UNBALANCED", "no late rows", Nil)
  }

  test("an entry in the middle is gone") {
    val query = written()
    delete(local(query, "eventtide/late/2"))
    check(query, "LATE_INDEX_UNREADABLE", "index file 2", Seq(1, 3))
  }

  test("an entry in the middle is no entry") {
    val query = written()
    delete(local(query, "eventtide/late/2"))
    Files.writeString(local(query, "eventtide/late/2"), "v1\n")
    check(query, "LATE_INDEX_UNREADABLE", "index file 2", Seq(1, 3))
  }

  test("a late file is gone") {
    val query = written()
    delete(lateFile(query, 2))
    check(query, "LATE_FILES_MISSING", "it is missing", Seq(1, 3))
  }

  test("a late file has another length") {
    val query = written()
    val file = lateFile(query, 2)
    val bytes = Files.readAllBytes(file)
    delete(file)
    Files.write(file, bytes.take(100))
    check(query, "LATE_FILES_MISSING", s"it has 100 bytes instead of ${bytes.length}", Seq(1, 3))
  }

  test("the folder of late files is gone, and the query goes on") {
    val query = written()
    Files.list(local(query, "late")).iterator.asScala.toSeq.foreach(Files.delete)
    Files.delete(local(query, "late"))
    assert(refusal(query.late).getMessage.contains("of which 3 cannot be read"))
    assert(skipping(query).isEmpty)
    val again = query.next(log)
    val said = Warnings.of(classOf[LateRows]) {
      again.start()
      try (4L to 6L).foreach(again.feed(_))
      finally again.stop()
    }
    assert(said.length == 1 && said.head.contains("/late/3-0-") && said.head.contains("continues"))
    assert(skipping(query) == Seq(4, 5, 6))
  }

  private def names(query: LateQuery, folder: String): Set[String] =
    local(query, folder).toFile.list().filterNot(_.startsWith(".")).toSet

  private def failure(start: => Any): Throwable =
    intercept[StreamingQueryException](start).getCause

  test("what a log is like is gone, and nobody guesses it") {
    val query = written()
    delete(local(query, "eventtide/late/window-0.0"))
    val before = (query.lateFiles, names(query, "eventtide/late"), names(query, "eventtide/runs"))
    val orphans = new LateOrphans(query.root, conf)
    val compaction = new LateCompaction(spark, query.root, every = 4)
    Seq[() => Any](() => orphans.clean(Nil), () => compaction.run(Nil)).foreach { action =>
      assert(refusal(action()).condition == "LATE_LOG_UNDESCRIBED")
    }
    assert(new CheckpointReport(query.root, conf, None).json.contains("LATE_LOG_UNDESCRIBED"))
    val again = query.next(log)
    assert(failure { again.start(); again.awaitIdle() }.getMessage.contains("batch 1 in 1-0-"))
    val after = (query.lateFiles, names(query, "eventtide/late"), names(query, "eventtide/runs"))
    assert(after == before)
  }

  test("a log that has no rows yet is described again, and so is one that begins later") {
    val query = new LateQuery(spark, LateSettings(LateMode.Count, None))
    query.start()
    try { query.feed(10); query.feed(1) }
    finally query.stop()
    (1 to 2).foreach { _ =>
      val again = query.next(log)
      again.start()
      try again.awaitIdle()
      finally again.stop()
      delete(local(query, "eventtide/late/window-0.0"))
    }
    val again = query.next(log)
    again.start()
    try again.feed(2)
    finally again.stop()
    assert(query.late == Seq(2))
  }

  test("of many files the folder is listed, with the same answer") {
    val folder = Files.createTempDirectory("late")
    val files = (0 until 200).map(i => LateFileInfo(f"$i-0-$i%012d.parquet", bytes = 3))
    files.tail.foreach(file => Files.write(folder.resolve(file.name), Array[Byte](1, 2, 3)))
    Files.write(folder.resolve(files(7).name), Array[Byte](1))
    val check = new LateFilesCheck(new Path(folder.toUri), conf)
    def names(of: Seq[LateFileInfo]) = check.damaged(of).map(_.file)
    assert(names(files) == Seq(files(0), files(7)) && names(files.take(9)) == names(files))
  }

  test("another way to treat what is missing is refused") {
    assert(
      refusal(reader(written()).option("missing", "ignore").load()).condition == "INVALID_CHOICE"
    )
  }

  test("nothing is deleted outside the checkpoint unless the folder is named") {
    val shared = Files.createTempDirectory("shared").toUri.getPath
    val query = written(LateSettings(LateMode.Log, Some(shared)))
    val folder = Paths.get(shared).toFile.listFiles.head
    val foreign = folder.toPath.resolve("1-0-0123456789ab.snappy.parquet")
    Files.write(foreign, Array[Byte](1))
    val orphans = new LateOrphans(query.root, conf)
    assert(orphans.find().map(_.path.getName) == Seq(foreign.getFileName.toString))
    Seq(Nil, Seq("/data/other"), Seq(query.checkpoint)).foreach { confirmed =>
      val error = refusal(orphans.clean(confirmed))
      assert(
        error.condition == "LATE_FOLDER_UNCONFIRMED" && error.getMessage.contains(folder.getPath)
      )
      assert(Files.exists(foreign))
    }
    assert(orphans.clean(Seq("/data/other", shared)).length == 1 && !Files.exists(foreign))
    assert(orphans.clean(Seq(folder.getPath)).isEmpty)
  }

  test("nothing is deleted in a folder of another query, though the one above it is named") {
    val shared = Files.createTempDirectory("shared").toString
    val query = written(LateSettings(LateMode.Log, Some(shared)))
    val (mine, other) = (Paths.get(shared).toFile.listFiles.head, s"$shared/${UUID.randomUUID()}")
    Files.createDirectory(Paths.get(other))
    mine.listFiles.foreach(file => Files.copy(file.toPath, Paths.get(other, file.getName)))
    val valid = Files.write(Paths.get(other, "1-0-0123456789ab.parquet"), Array[Byte](1))
    pointTo(query, mine.getPath, other)
    val orphans = new LateOrphans(query.root, conf)
    val compaction = new LateCompaction(spark, query.root, every = 4)
    for (confirmed <- Seq(Nil, Seq(shared), Seq(mine.getPath))) {
      Seq[() => Any](() => orphans.clean(confirmed), () => compaction.run(confirmed)).foreach {
        action =>
          val error = refusal(action())
          assert(error.condition == "LATE_FOLDER_FOREIGN")
          assert(error.getMessage.contains(mine.getName))
          assert(error.getMessage.contains(s"the folder itself, file:$other, with"))
      }
    }
    delete(local(query, "metadata")) // which query it is, is not known
    assert(refusal(orphans.clean(Seq(shared))).condition == "LATE_FOLDER_FOREIGN")
    assert(Files.exists(valid))
    assert(orphans.clean(Seq(other)).length == 1 && !Files.exists(valid))
  }

  private def pointTo(query: LateQuery, from: String, to: String): Unit = {
    val file = local(query, "eventtide/late/window-0.0")
    val text = Files.readString(file).replace(from, to)
    assert(text.contains(to))
    delete(file)
    Files.writeString(file, text): Unit
  }

  test("a checkpoint that has its late files at the root of a file system is refused by name") {
    val shared = Files.createTempDirectory("shared").toUri.getPath
    val query = written(LateSettings(LateMode.Log, Some(shared)))
    val folder = Paths.get(shared).toFile.listFiles.head
    pointTo(query, s"file:${folder.getPath}", "file:/")
    assert(refusal(new LateOrphans(query.root, conf).clean(Nil)).condition == "LATE_FOLDER_FOREIGN")
  }

  test("files that a retention removes while orphans are looked for are no damage") {
    val query = written()
    val index = new LateIndexReader(query.root, conf)
    val forgotten = LateIndexEntry.together(index.entries(-1, 2))
    withConf(CheckpointConf.Key, classOf[Opened].getName) {
      Opened.onOpen("eventtide/late/3", time = 2) { // first for the balance
        new LateIndexFiles(query.root, CheckpointConf())
          .write(LateIndexFile.forgotten(2), Seq(forgotten.json))
        (1L to 2L).foreach(batch => delete(lateFile(query, batch)))
      }
      assert(new LateOrphans(query.root, conf).find().isEmpty)
    }
    assert(query.late == Seq(3))
  }
}
