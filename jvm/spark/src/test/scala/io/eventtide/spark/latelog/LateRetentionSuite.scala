package io.eventtide.spark.latelog

import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.UUID

import scala.collection.immutable.SortedMap

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.options.{LateMode, LateSettings}
import io.eventtide.spark.query.doctor.CheckpointReport
import io.eventtide.spark.{CheckpointConf, EventtideException, LocalSession}

/** What goes and when, by the index alone: an entry a second, of which each has a file. */
class LateRetentionSuite extends AnyFunSuite {
  private val conf = CheckpointConf()
  private val second = 1000000L

  private final class Log(keepSeconds: Long = 32, waitsForHandler: Boolean = false) {
    val root = new Path(Files.createTempDirectory("retention").toUri)
    val folder: LocalPath = Files.createDirectories(Paths.get(root.toUri).resolve("late"))
    private val folders = Map(0 -> new Path(folder.toUri))
    val index = new LateIndex(root, retain = 2, conf)
    val reader = new LateIndexReader(root, conf)
    val readers = new LateReaders(root, conf)
    var retention: LateRetention = opened
    index.restore(below = 0)

    private def opened =
      new LateRetention(root, conf, keepSeconds * second, waitsForHandler, folders)

    def restart(): Unit = retention = opened

    def write(batch: Long): Unit = write(batch, at = batch)

    def write(batch: Long, at: Long): Unit = {
      val name = s"$batch-0-0123456789ab.parquet"
      Files.write(folder.resolve(name), Array[Byte](1))
      val rows = WindowLateEntry(0, SortedMap("future" -> 2L), Seq(LateFileInfo(name, 1)))
      index.write(batch, at * second, Seq(rows))
    }

    def step(batch: Long, below: Long): Unit =
      retention.step(batch * second, below).foreach(index.forget)

    def run(batches: Seq[Long]): Unit = batches.foreach { batch =>
      write(batch)
      step(batch, batch - 2)
    }

    def kept: Seq[Long] = reader.entries(-1, 1000).filter(_.filesOf(0).nonEmpty).map(_.batchId)
    def lateFiles: Int = folder.toFile.list().length

    def isBalanced(last: Long): Boolean =
      reader.totals(1000) == index.totals && index.totals.rows == Map("future" -> 2 * (last + 1))
  }

  test("batches go when they are a sixteenth too old, and then with each batch") {
    val log = new Log
    log.run(0L to 34L)
    assert(log.kept == (0L to 34L) && log.reader.forgotten == -1)
    log.run(Seq(35L))
    assert(log.kept == (3L to 35L) && log.reader.forgotten == 2)
    log.run(36L to 100L)
    assert(
      log.kept == (68L to 100L) && log.lateFiles == 34
    ) // the last one goes with the next batch
    assert(log.isBalanced(last = 100))
    val names = new LateIndexFiles(log.root, conf).names
    assert(names.length < 40 && names.count(_.startsWith("forgotten-")) <= 2)
  }

  test("a run goes on where another one ended, whose last files are orphans") {
    val log = new Log
    log.run(0L to 100L)
    log.restart()
    val index = new LateIndex(log.root, retain = 2, conf)
    index.restore(below = 101)
    assert(index.totals == log.index.totals)
    log.run(101L to 110L)
    assert(log.kept == (78L to 110L) && log.isBalanced(last = 110))
    assert(log.lateFiles == 33 + 2)
  }

  test("many that are due go ten at a time") {
    val log = new Log(keepSeconds = 1000)
    log.run(0L to 99L)
    log.step(2000, below = 98)
    assert(log.kept == (10L to 99L) && log.lateFiles == 100)
    log.step(2000, below = 98)
    assert(log.kept == (20L to 99L) && log.lateFiles == 90)
    (1 to 20).foreach(_ => log.step(2000, below = 98))
    assert(log.kept == (98L to 99L) && log.isBalanced(last = 99)) // these may be run again
  }

  test("what a reader has not read stays, and one that is removed holds nothing back") {
    val log = new Log
    val ids = Seq.fill(2)(s"${UUID.randomUUID()}-0")
    log.readers.mark(LateReader(ids(0), 20), "query 'one'")
    log.readers.mark(LateReader(ids(1), -1), "query 'two'")
    log.run(0L to 60L)
    assert(log.kept == (0L to 60L))
    log.readers.mark(LateReader(ids(1), 40), "query 'two'")
    assert(log.readers.all.toSet == Set(LateReader(ids(0), 20), LateReader(ids(1), 40)))
    assert(log.readers.named.map(_._2).toSet == Set("query 'one'", "query 'two'"))
    log.run(61L to 70L)
    assert(log.kept == (21L to 70L))
    log.readers.forget(ids(0))
    log.run(71L to 75L)
    assert(log.kept == (41L to 75L))
    val error = intercept[EventtideException](log.readers.forget(ids(0)))
    assert(error.condition == "LATE_READER_UNKNOWN" && error.getMessage.contains(ids(1)))
  }

  test("readers are named while they go on") {
    val log = new Log
    val ids = Seq.fill(2)(s"${UUID.randomUUID()}-0").sorted
    ids.foreach(id => log.readers.mark(LateReader(id, 0), s"query '$id'"))
    val watched = CheckpointConf()
    watched.set(CheckpointConf.Key, classOf[Opened].getName)
    val readers = new LateReaders(log.root, watched)
    Opened.onOpen(s"${ids(0)}_0")(log.readers.mark(LateReader(ids(0), 1), "query 'one'"))
    assert(readers.named.map(_._1) == Seq(LateReader(ids(0), 1), LateReader(ids(1), 0)))
    Opened.onOpen(s"${ids(1)}_0")(log.readers.forget(ids(1)))
    assert(readers.named == Seq(LateReader(ids(0), 1) -> "query 'one'"))
  }

  test("nothing goes before a handler that a query has was called for the first time") {
    val log = new Log(waitsForHandler = true)
    log.run(0L to 50L)
    assert(log.kept == (0L to 50L))
    log.readers.mark(LateReader(s"${UUID.randomUUID()}-0", 50), "late rows of query 'one'")
    log.run(51L to 53L)
    assert(log.kept.head > 5)
  }

  test("what a compaction has put together goes when all of it is old") {
    val log = new Log
    log.run(0L to 30L)
    val entries = log.reader.entries(-1, 7)
    val large = LateFileInfo("0-7-0-0123456789ab.parquet", 1)
    val together = entries.map { entry =>
      entry.copy(windows = entry.windows.map(_.copy(files = Seq(large))))
    }
    val range = BatchRange(0, 7)
    new LateIndexFiles(log.root, conf).write(LateIndexFile.compacted(range), together.map(_.json))
    Files.write(log.folder.resolve(large.name), Array[Byte](1))
    log.run(31L to 39L)
    assert(log.kept == (0L to 39L) && Files.exists(log.folder.resolve(large.name)))
    log.run(40L to 41L)
    assert(log.kept == (9L to 41L) && !Files.exists(log.folder.resolve(large.name)))
    assert(log.isBalanced(last = 41))
  }

  test("of a file that has more, what is left goes when all of it is old") {
    val log = new Log
    log.run(0L to 30L)
    val entries = log.reader.entries(-1, 7)
    log.run(31L to 35L)
    assert(log.reader.forgotten == 2)
    val compacted = LateIndexFile.compacted(BatchRange(0, 7)) // by one that has not seen this
    new LateIndexFiles(log.root, conf).write(compacted, entries.map(_.json))
    log.run(36L to 39L)
    assert(log.kept == (3L to 39L))
    log.run(40L to 41L)
    assert(log.kept == (9L to 41L) && log.isBalanced(last = 41))
  }

  test("rows of a clock that was set back are as old as those before them") {
    val log = new Log
    log.run(0L to 30L)
    log.write(31, at = -9000)
    log.run(32L to 34L)
    assert(log.kept == (0L to 34L))
    log.run(35L to 64L)
    assert(log.kept == (32L to 64L)) // batch 31 with batch 30
  }

  test("a reader that moves while the folder is listed is not overlooked") {
    val log = new Log
    val id = s"${UUID.randomUUID()}-0"
    log.readers.mark(LateReader(id, 0), "query 'one'")
    val watched = CheckpointConf()
    watched.set(CheckpointConf.Key, classOf[Vanishing].getName)
    Vanishing.next = Set(s"${id}_0")
    assert(new LateReaders(log.root, watched).all == Seq(LateReader(id, 0)))
  }

  test("where the index is not whole nothing goes") {
    val log = new Log(keepSeconds = 1000)
    log.run(0L to 3L)
    val file = Paths.get(log.root.toUri).resolve("eventtide/late/1")
    val text = Files.readString(file).replace("\"future\":4", "\"future\":5")
    new LateIndexFiles(log.root, conf).delete(LateIndexFile.batch(1))
    Files.writeString(file, text)
    (1 to 5).foreach(_ => log.step(2000, below = 10))
    assert(log.reader.forgotten == 0 && log.lateFiles >= 3)
  }
}

/** The same in a query, with readers. */
class LateRetentionQuerySuite extends AnyFunSuite with LocalSession {
  private val log = LateSettings(LateMode.Log, None, keepMicros = Some(100000000L))

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.experimental.extraStrategies = Seq(MarkLateStrategy(spark))
  }

  /** A batch every ten seconds, each with a late row, of the second of its number. */
  private def feed(query: LateQuery, batches: Seq[Long]): Unit =
    withConf("spark.sql.streaming.minBatchesToRetain", "2") {
      query.start()
      try
        batches.foreach { batch =>
          query.at(batch * 10)
          query.feed(if (batch == 0) 1000L else batch)
        }
      finally query.stop()
    }

  private def conf = spark.sessionState.newHadoopConf()

  test("nothing goes by a clock that is far from the last batch, but with the next run") {
    val query = new LateQuery(spark, log)
    feed(query, 0L to 3L)
    def feedAt(second: Long, batch: Long): Unit = {
      val again = query.next(log)
      withConf("spark.sql.streaming.minBatchesToRetain", "2") {
        again.start(second = second)
        try again.feed(batch)
        finally again.stop()
      }
    }
    feedAt(200000, 4)
    assert(query.late == (1L to 4L))
    feedAt(200010, 5)
    feedAt(200020, 6)
    assert(query.late == (3L to 6L)) // a file of the index each
  }

  test("rows that are too old go, but not before those who read the log have them", Slow) {
    val query = new LateQuery(spark, log)
    feed(query, 0L to 5L)
    val into = Files.createTempDirectory("rows")
    assert(query.stream(into, most = 1) == (1L to 5L))
    val readers = new LateReaders(query.root, conf)
    assert(readers.all.map(_.batchId) == Seq(4)) // Spark says so when it begins the next batch
    feed(query.next(log), 6L to 20L)
    assert(query.late == (5L to 20L))
    assert(new CheckpointReport(query.root, conf, None).json.contains("\"problems\":[]"))
    assert(query.stream(into, most = 1) == (1L to 20L))
    feed(query.next(log), 21L to 22L)
    assert(query.late == (12L to 22L))
    readers.forget(readers.all.head.id)
    feed(query.next(log), 23L to 40L)
    assert(query.late == (30L to 40L))
    val error = intercept[StreamingQueryException](query.stream(into, most = 1)).getCause
    assert(error.getMessage.contains("LATE_ROWS_FORGOTTEN"))
    assert(query.stream(into, most = 1, "skip") == (1L to 20L) ++ (30L to 40L))
    assert(new CheckpointReport(query.root, conf, None).json.contains("\"problems\":[]"))
  }

  test("a window that no longer logs, and has kept all rows, keeps the rows of others too") {
    val query = new LateQuery(spark, log)
    feed(query, 0L to 5L)
    val specs = new LateLogSpecs(query.root, conf)
    specs.resume(Map(1 -> specs.read()(0).copy(keepMicros = None)))
    feed(query.next(log), 6L to 30L)
    assert(LateQuery.seconds(query.readOf(window = 0)) == (1L to 30L))
    specs.resume(Map(1 -> specs.read()(0)))
    feed(query.next(log), 31L to 40L)
    assert(LateQuery.seconds(query.readOf(window = 0)).head > 6)
  }

  test("a copy of a checkpoint removes no rows of the original outside of it", Slow) {
    val to = Files.createTempDirectory("late").toUri.toString
    val outside = LateSettings(LateMode.Log, Some(to), keepMicros = Some(100000000L))
    val query = new LateQuery(spark, outside)
    feed(query, 0L to 5L)
    val copy = query.copied()
    val said = Warnings.of(classOf[LateRows])(feed(copy.next(outside), 6L to 30L))
    assert(said.count(_.contains("belongs to the checkpoint")) == 1)
    assert(query.late == (1L to 5L) && copy.late == (1L to 30L))
    val error = intercept[EventtideException](new LateOrphans(copy.root, conf).clean(Seq(to)))
    assert(error.condition == "LATE_FOLDER_SHARED")
    assert(error.getMessage.contains(query.root.toString) && error.getMessage.contains("_owner"))
    feed(query.next(outside), 6L to 30L)
    assert(query.late.head > 6) // the original does
  }

  test("a stream that has read more than there is now is refused", Slow) {
    val query = new LateQuery(spark, log)
    feed(query, 0L to 3L)
    val earlier = query.copied()
    feed(query.next(log), 4L to 8L)
    val into = Files.createTempDirectory("rows")
    assert(query.stream(into, most = 1) == (1L to 8L))
    query.replaceBy(earlier)
    assert(refusal(query.stream(into, most = 1)).contains("CHECKPOINT_SET_BACK"))
  }

  /** What a stream has read that may not write into the checkpoint of the query. */
  private def readOnly(query: LateQuery, into: LocalPath, missing: String = "fail"): Seq[Long] =
    withConf(CheckpointConf.Key, classOf[NoMarks].getName)(query.stream(into, most = 1, missing))

  private def refusal(action: => Any): String =
    intercept[StreamingQueryException](action).getCause.getMessage

  test("a reader that may not write goes on, with one warning, where no rows ever go", Slow) {
    val forever = LateSettings(LateMode.Log, None)
    val query = new LateQuery(spark, forever)
    feed(query, 0L to 5L)
    val into = Files.createTempDirectory("rows")
    val said = Warnings.of(classOf[LateMark])(assert(readOnly(query, into) == (1L to 5L)))
    assert(said.length == 1 && said.head.contains("read only") && said.head.contains("readers"))
    assert(new LateReaders(query.root, conf).all.isEmpty)
    feed(query.next(log), 6L to 20L) // the retention knows nothing of it
    assert(query.late.head > 6)
    assert(refusal(readOnly(query, into)).contains("LATE_READER_UNWRITTEN"))
    assert(refusal(query.stream(into, most = 1)).contains("LATE_ROWS_FORGOTTEN"))
  }

  test("a reader that may not write is refused by name where rows go", Slow) {
    val query = new LateQuery(spark, log)
    feed(query, 0L to 5L)
    val into = Files.createTempDirectory("rows")
    val error = refusal(readOnly(query, into))
    assert(error.contains("LATE_READER_UNWRITTEN") && error.contains("read only"))
    assert(query.stream(into, most = 1) == (1L to 5L)) // it may write now
    feed(query.next(log), 6L to 8L)
    assert(refusal(readOnly(query, into)).contains("LATE_READER_UNWRITTEN"))
  }
}
