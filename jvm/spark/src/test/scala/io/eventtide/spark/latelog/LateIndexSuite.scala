package io.eventtide.spark.latelog

import java.nio.file.{Files, Path => LocalPath, Paths}

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._
import scala.reflect.{ClassTag, classTag}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.spi.LateTotals
import io.eventtide.spark.{CheckpointConf, DirectFiles, EventtideException}

@Slow
class LateIndexSuite extends AnyFunSuite {
  private val conf = CheckpointConf()

  private def newRoot(): Path = new Path(Files.createTempDirectory("late").toUri)

  private def local(root: Path, name: String): LocalPath =
    Paths.get(root.toUri).resolve(LateIndexFiles.Folder).resolve(name)

  private def open(root: Path, below: Long, retain: Int = 2): LateIndex = {
    val index = new LateIndex(root, retain, conf, foldEvery = 5)
    index.restore(below)
    index
  }

  private def late(file: String, rows: Long = 1): Seq[WindowLateEntry] =
    Seq(WindowLateEntry(0, SortedMap("frame_closed" -> rows), Seq(named(file))))

  // A name that a task might give; what is after the first dot says which one it is in a test.
  private def named(file: String): LateFileInfo = {
    val digits = file.filter(_.isDigit)
    LateFileInfo(s"$digits-0-000000000000.${file.replace(' ', '_')}.parquet", 10)
  }

  private def label(file: LateFileInfo): String = file.name.split('.')(1).replace('_', ' ')

  private def write(index: LateIndex, batches: Long*): Unit =
    batches.foreach(batch => index.write(batch, 0, late(s"file $batch")))

  private def commit(root: Path, batch: Long): Unit = {
    val commits = Files.createDirectories(Paths.get(root.toUri).resolve("commits"))
    Files.writeString(commits.resolve(batch.toString), "v1\n{}"): Unit
  }

  private def reader(root: Path): LateIndexReader = new LateIndexReader(root, conf)

  private def files(root: Path, after: Long, until: Long): Seq[String] =
    reader(root).entries(after, until).flatMap(_.filesOf(0)).map(label)

  private def names(root: Path): Seq[String] = Files
    .list(Paths.get(root.toUri).resolve(LateIndexFiles.Folder))
    .iterator
    .asScala
    .map(_.getFileName.toString)
    .filterNot(_.startsWith("."))
    .toSeq
    .sorted

  private def refusal(action: => Any): String = {
    val error = intercept[EventtideException](action)
    assert(error.condition == "LATE_INDEX_UNREADABLE")
    error.getMessage
  }

  test("a batch without late rows has no entry, and no index has no rows") {
    val root = newRoot()
    val index = open(root, below = 0)
    index.write(0, 0, Seq(WindowLateEntry(0, SortedMap.empty, Nil)))
    index.write(1, 0, Nil)
    assert(
      files(root, -1, 9).isEmpty && index.totals == LateTotals.None && reader(root).lastLate.isEmpty
    )
  }

  test("an entry says what was late, and how many since the checkpoint began") {
    val root = newRoot()
    val index = open(root, below = 0)
    index.write(0, 0, late("0 a", rows = 2))
    index.write(3, 0, late("3 b", rows = 5) :+ WindowLateEntry(1, SortedMap("future" -> 1L), Nil))
    assert(index.totals.rows == Map("frame_closed" -> 7L, "future" -> 1L))
    assert(open(root, below = 4).totals == index.totals)
    val entry = reader(root).entries(after = 0, until = 3).head
    assert(entry.after.contains(0L) && entry.rows == Map("frame_closed" -> 5L, "future" -> 1L))
    assert(entry.filesOf(0) == Seq(named("3 b")) && entry.filesOf(1).isEmpty)
  }

  test("only what Spark has committed is the last late batch") {
    val root = newRoot()
    write(open(root, below = 0), 0, 2, 5)
    assert(reader(root).lastLate.isEmpty)
    Seq(0L -> 0L, 1L -> 0L, 4L -> 2L, 5L -> 5L, 9L -> 5L).foreach { case (committed, expected) =>
      commit(root, committed)
      assert(reader(root).lastLate.contains(expected))
    }
  }

  test("a batch that is run again has its files of the last time, and its rows once") {
    val root = newRoot()
    write(open(root, below = 0), 0, 1)
    val again = open(root, below = 1)
    assert(again.totals.rows == Map("frame_closed" -> 1L))
    again.write(1, 0, late("1 again"))
    assert(files(root, -1, 1) == Seq("file 0", "1 again") && again.totals.rows("frame_closed") == 2)
  }

  test("a batch that is run again and has no late rows any more leaves none") {
    val root = newRoot()
    write(open(root, below = 0), 0, 1)
    val again = open(root, below = 1)
    again.write(1, 0, Nil)
    assert(files(root, -1, 1) == Seq("file 0"))
    assert(again.totals == LateTotals(Some(1), SortedMap("frame_closed" -> 1L)))
  }

  test("a start deletes nothing, and what was replaced goes with the batch after") {
    val root = newRoot()
    write(open(root, below = 0), 0, 1)
    val again = open(root, below = 1)
    assert(names(root) == Seq("0", "1"))
    again.write(1, 0, late("1 again"))
    assert(names(root) == Seq("0", "1", "1.1"))
    val third = open(root, below = 1)
    third.write(1, 0, late("1 third"))
    assert(names(root) == Seq("0", "1", "1.1", "1.2") && files(root, 0, 1) == Seq("1 third"))
    third.write(2, 0, Nil)
    assert(names(root) == Seq("0", "1.2"))
  }

  test("names are read in our own form only") {
    val root = newRoot()
    write(open(root, below = 0), 0)
    val text = Files.readAllBytes(local(root, "0"))
    Seq("1.0", "1.", "01x", "1.1.1", "+1", "fold1-1", "1.01").foreach { name =>
      Files.write(local(root, name), text)
    }
    assert(files(root, -1, 9) == Seq("file 0"))
  }

  test("many batches are few files, and all of them can be read") {
    val root = newRoot()
    val batches = (0L until 58L).map(_ * 2)
    write(open(root, below = 0), batches: _*)
    assert(names(root) == Seq("110", "112", "114", "fold1-100-108", "fold2-0-48", "fold2-50-98"))
    assert(files(root, -1, 300) == batches.map(batch => s"file $batch"))
    assert(files(root, 46, 52) == Seq("file 48", "file 50", "file 52"))
    assert(open(root, below = 300).totals.rows == Map("frame_closed" -> 58L))
  }

  test("no batch pays for more than a few small files, and few are left over") {
    managed[Counted] {
      val root = newRoot()
      val index = open(root, below = 0)
      Counted.take()
      val most = (0L until 700L).map { batch => write(index, batch); Counted.take() }.max
      assert(most == 1 + 5 + 1 + 5) // its own, those that become one, that one, and their end
      assert(names(root).length < 20 && names(root).contains("fold4-0-624"))
      assert(files(root, -1, 699).length == 700)
    }
  }

  test("what a batch had to leave as it was, the next ones make up for") {
    val root = newRoot()
    write(open(root, below = 0, retain = 1000), 0L to 100L: _*)
    assert(names(root).length == 101)
    write(open(root, below = 101), 101L to 140L: _*)
    assert(names(root).length < 15 && files(root, -1, 140).length == 141)
  }

  test("so many batches with late rows end at one of them, or where the log does") {
    val root = newRoot()
    write(open(root, below = 0), (0L until 58L).map(_ * 2): _*)
    def upTo(after: Long, batches: Int) = reader(root).upTo(after, until = 113, batches)
    assert(Seq(-1L, 0L, 47L, 98L, 108L, 111L).map(upTo(_, 1)) == Seq(0, 2, 48, 100, 110, 112))
    assert(upTo(-1, 3) == 4 && upTo(46, 3) == 52 && upTo(106, 3) == 112)
    assert(upTo(-1, 100) == 112)
    assert(upTo(112, 1) == 113)
  }

  test("what Spark can still run again is never folded") {
    val root = newRoot()
    write(open(root, below = 0, retain = 20), 0L to 24L: _*)
    assert(names(root).length == 25)
    val again = open(root, below = 5, retain = 20)
    write(again, 5L to 25L: _*)
    again.write(26, 0, Nil)
    assert(names(root).length == 22 && names(root).contains("fold1-0-4"))
  }

  test("going back further than an index can is refused by name") {
    val root = newRoot()
    write(open(root, below = 0), 0L to 7L: _*)
    assert(refusal(open(root, below = 3)).contains("batch 3 is replayed"))
  }

  test("a kill between any two steps of folding changes nothing that is read") {
    val root = newRoot()
    val index = open(root, below = 0)
    write(index, 0L to 6L: _*)
    val before = (0 to 6).map(i => i -> Files.readAllBytes(local(root, i.toString)))
    write(index, 7)
    val expected = (0 to 7).map(batch => s"file $batch")
    assert(names(root) == Seq("5", "6", "7", "fold1-0-4") && files(root, -1, 7) == expected)
    // Some of what was folded is still there; all of it, while the fold is being written.
    (4 to 0 by -1).foreach { from =>
      before.filter(_._1 >= from).foreach { case (i, bytes) =>
        Files.write(local(root, i.toString), bytes)
      }
      assert(files(root, -1, 7) == expected)
    }
    val fold = Files.readAllBytes(local(root, "fold1-0-4"))
    Files.delete(local(root, "fold1-0-4"))
    assert(files(root, -1, 7) == expected)
    Files.write(local(root, "fold1-0-4"), fold)
    val again = open(root, below = 8)
    assert(again.totals.rows == Map("frame_closed" -> 8L) && names(root).length == 9)
    write(again, 8)
    assert(names(root).length == 5)
    assert(files(root, -1, 8) == expected :+ "file 8")
  }

  test("an entry that is missing is noticed, by whoever reads over it") {
    val root = newRoot()
    write(open(root, below = 0), 0, 3, 7)
    Files.delete(local(root, "3"))
    assert(refusal(files(root, -1, 7)).contains("file 3"))
    assert(files(root, 3, 7) == Seq("file 7"))
  }

  test("a file that is not as it was written is refused by name") {
    val root = newRoot()
    write(open(root, below = 0), 0)
    Files.deleteIfExists(local(root, ".0.crc"))
    val whole = Files.readString(local(root, "0"))
    val name = named("file 0").name
    val changed = Seq(
      name -> "../../../outside/x.parquet",
      name -> s"../$name",
      name -> s"file:/outside/$name",
      name -> "1-0-000000000000.parquet",
      "\"bytes\":10" -> "\"bytes\":-10",
      "\"bytes\":10" -> "\"bytes\":1e3",
      "\"window\":0" -> "\"window\":-1",
      "\"window\":0" -> "\"window\":4294967296",
      "\"frame_closed\":1" -> "\"frame_closed\":-1",
      "\"frame_closed\":1" -> "\"frame_closed\":\"1\"",
      "\"batch\":0" -> "\"batch\":-1",
      "\"batch\":0" -> "\"batch\":0,\"after\":0",
      "\"batch\":0" -> "\"batch\":0,\"batch\":1",
      "\"bytes\":10" -> "\"bytes\":10,\"times\":[1]",
      "\"bytes\":10" -> "\"bytes\":10,\"times\":[2,1]",
      "\"files\":[{" -> "\"files\":{\"a\":{"
    ).map { case (from, to) => whole.replace(from, to) }
    assert(!changed.contains(whole))
    val broken = Seq("v2\n{}", "", "v1", "v1\n", "v1\nnothing", whole.dropRight(1), "v1\n{}")
    (broken ++ changed).foreach { text =>
      Files.writeString(local(root, "0"), text)
      assert(refusal(files(root, -1, 0)).contains("index file 0"))
      assert(refusal(open(root, below = 1)).contains("index file 0"))
    }
  }

  private def managed[M: ClassTag](test: => Unit): Unit = {
    conf.set(CheckpointConf.Key, classTag[M].runtimeClass.getName)
    try test
    finally conf.set(CheckpointConf.Key, CheckpointConf.Manager)
  }

  test("on a file system that cannot replace a file it works the same") {
    managed[DirectFiles] {
      val root = newRoot()
      write(open(root, below = 0), 0L to 11L: _*)
      write(open(root, below = 10), 10L to 20L: _*)
      assert(files(root, -1, 400) == (0 to 20).map(batch => s"file $batch"))
    }
  }

  test("a reader that has listed files finds what they are folded into meanwhile") {
    val root = newRoot()
    val index = open(root, below = 0)
    write(index, 0L to 6L: _*)
    managed[Meanwhile] {
      val read = reader(root)
      Meanwhile.afterListing = () => write(index, 7L to 40L: _*)
      assert(read.entries(-1, 6).flatMap(_.filesOf(0)).map(label) == (0 to 6).map(i => s"file $i"))
      assert(names(root).contains("fold2-0-24"))
    }
  }
}
