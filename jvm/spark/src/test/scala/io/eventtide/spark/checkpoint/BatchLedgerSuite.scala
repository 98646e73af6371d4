package io.eventtide.spark.checkpoint

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.ByteBuffer
import java.nio.file.Files
import java.util.zip.CRC32C

import scala.collection.immutable.SortedMap

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.spi.{LateTotals, NextTimer}
import io.eventtide.spark.{CheckpointConf, EventtideException}

class BatchLedgerSuite extends AnyFunSuite {
  private val conf = CheckpointConf()

  private def newRoot(): Path = new Path(Files.createTempDirectory("ledger").toUri)

  private def open(root: Path, retain: Int = 100): BatchLedger = new BatchLedger(root, retain, conf)

  private def write(ledger: BatchLedger, batchId: Long, state: String): Unit = {
    val after = if (ledger.wantsWhole) None else ledger.last
    val settings = if (after.isEmpty) Seq("settings" * 100) else Nil
    val of =
      LedgerEntry(batchId, after, isHolding = false, Some(batchId * 1000), Seq(state.getBytes))
    ledger.write(of.copy(settings = settings), isCommitted = false)
  }

  private def rewrite(ledger: BatchLedger, batchId: Long, state: String): Unit = {
    val entry = LedgerEntry(batchId, None, isHolding = true, None, Seq(state.getBytes))
    ledger.write(entry, isCommitted = true)
  }

  private def restored(ledger: BatchLedger, below: Long): Seq[String] =
    ledger.restore(below).map(entry => new String(entry.inputs.head))

  private def refusal(action: => Any): EventtideException = intercept[EventtideException](action)

  private def filesIn(root: Path): Seq[java.io.File] =
    new java.io.File(new Path(root, "eventtide/ledger").toUri).listFiles.toSeq
      .filterNot(_.getName.startsWith("."))

  test("what a query began with is the entry of batch -1") {
    val root = newRoot()
    write(open(root), -1, "begun")
    assert(restored(open(root), below = 0) == Seq("begun"))
  }

  test("an entry that is written again counts instead of the first") {
    val root = newRoot()
    val ledger = open(root)
    write(ledger, 0, "first")
    Seq("second", "third").foreach(rewrite(ledger, 0, _))
    assert(filesIn(root).map(_.getName) == Seq("0.2"))
    write(ledger, 1, "next")
    assert(restored(open(root), below = 2) == Seq("third", "next"))
  }

  test("an entry that builds on itself or on a later entry is refused") {
    for (after <- Seq(EntryName(0, 0), EntryName(0, 1), EntryName(7, 0))) {
      val root = newRoot()
      open(root).write(
        LedgerEntry(0, Some(after), isHolding = false, None, Nil),
        isCommitted = false
      )
      assert(refusal(open(root).restore(below = 1)).condition == "LEDGER_UNREADABLE")
    }
  }

  test("a kill before the first revision went leaves both, and the last one counts") {
    val root = newRoot()
    val ledger = open(root)
    write(ledger, 0, "first")
    val first = filesIn(root).head.toPath
    val kept = Files.readAllBytes(first)
    rewrite(ledger, 0, "second")
    Files.write(first, kept)
    assert(restored(open(root), below = 1) == Seq("second"))
    assert(filesIn(root).length == 2)
    write(open(root), 1, "next")
    assert(filesIn(root).map(_.getName).toSet == Set("0.1", "1"))
  }

  test("a ledger that does not end at the batch before is refused, and left as it is") {
    val root = newRoot()
    val none = refusal(open(root).restore(3))
    assert(none.condition == "LEDGER_GAP" && none.getMessage.contains("has no entry"))
    val ledger = open(root)
    Seq(0L, 1L, 4L).foreach(id => write(ledger, id, s"batch $id"))
    val gap = refusal(open(root).restore(3))
    assert(gap.condition == "LEDGER_GAP" && gap.getMessage.contains("ends at batch 1"))
    assert(filesIn(root).map(_.getName).toSet == Set("0", "1", "4"))
  }

  test("an entry that others build on cannot be missing") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 2L).foreach(id => write(ledger, id, s"batch $id"))
    filesIn(root).filter(_.getName == "1").foreach(_.delete())
    val error = refusal(open(root).restore(3))
    assert(error.condition == "LEDGER_UNREADABLE" && error.getMessage.contains("missing"))
  }

  test("a run that never planned a batch leaves what counts no more") {
    val root = newRoot()
    write(open(root), -1, "begun")
    rewrite(open(root), -1, "begun anew")
    assert(restored(open(root), below = 0) == Seq("begun anew") && filesIn(root).length == 1)
  }

  test("the newest entry comes back with all that it builds on") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 3L).foreach(id => write(ledger, id, s"batch $id"))
    assert(restored(open(root), below = 4) == (0 to 3).map(id => s"batch $id"))
  }

  test("an entry is whole once as much has changed as the last whole one holds") {
    val root = newRoot()
    val ledger = open(root)
    write(ledger, 0, "whole")
    val half = "x" * 400
    Seq(1L, 2L, 3L).foreach(write(ledger, _, half))
    assert(restored(open(root), below = 3) == Seq("whole", half, half))
    assert(restored(open(root), below = 4) == Seq(half))
  }

  test("no more than a hundred entries are read, however little changes") {
    val root = newRoot()
    val ledger = open(root)
    write(ledger, 0, "whole" * 10000)
    (1L to 100L).foreach(id => write(ledger, id, s"batch $id"))
    assert(restored(open(root), below = 100).length == 100)
    assert(restored(open(root), below = 101) == Seq("batch 100"))
  }

  test("what a batch had in the ledger when it was run before counts no more, and stays") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 2L).foreach(id => write(ledger, id, s"batch $id"))
    val again = open(root)
    assert(restored(again, below = 2) == Seq("batch 0", "batch 1"))
    write(again, 2, "batch 2 again")
    assert(restored(open(root), below = 3) == Seq("batch 2 again"))
    assert(filesIn(root).map(_.getName).toSet == Set("0", "1", "2", "2.1"))
    write(again, 3, "batch 3")
    assert(filesIn(root).map(_.getName).toSet == Set("0", "1", "2.1", "3"))
    assert(restored(open(root), below = 4) == Seq("batch 2 again", "batch 3"))
  }

  test("the first entry of a run is whole") {
    val root = newRoot()
    write(open(root), 0, "batch 0")
    val next = open(root)
    next.restore(1)
    write(next, 1, "batch 1")
    assert(restored(open(root), below = 2) == Seq("batch 1"))
  }

  test("old entries go, but never one that may still be restored") {
    val root = newRoot()
    val ledger = open(root, retain = 5)
    (0L to 140L).foreach(id => write(ledger, id, s"batch $id"))
    assert(filesIn(root).length == 105)
    assert(restored(open(root), below = 137).last == "batch 136")
  }

  private def entry: LedgerEntry = LedgerEntry(
    7,
    after = Some(EntryName(6, 2)),
    isHolding = true,
    emittedMicros = Some(7000),
    inputs = Seq("one".getBytes, "two".getBytes),
    rowsOnTime = 40,
    late = LateTotals(Some(5), SortedMap("future" -> 1L, "window_closed" -> 9L)),
    due = Seq(SavedTimer(NextTimer(60, 70, 80), "rules", "begins")),
    settings = Seq("settings")
  )

  private def bytesOf(entry: LedgerEntry): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    entry.write(new DataOutputStream(bytes))
    bytes.toByteArray
  }

  private def damage(bytes: Array[Byte]): String =
    intercept[LedgerEntry.Damaged](LedgerEntry.read(7, bytes)).reason

  test("an entry comes back as it was written") {
    val read = LedgerEntry.read(7, bytesOf(entry))
    assert(read.inputs.map(new String(_)) == Seq("one", "two"))
    assert(read.copy(inputs = Nil) == entry.copy(inputs = Nil))
  }

  test("an entry of another format version is refused by name, older ones too") {
    Seq(1, 7, 99).foreach { version =>
      val head = ByteBuffer.allocate(8).putInt(0x45544c47).putInt(version).array
      val error = refusal(LedgerEntry.read(7, head))
      assert(error.condition == "LEDGER_VERSION" && error.getMessage.contains(s" $version;"))
    }
  }

  test("each bit of an entry that is another is noticed") {
    val whole = bytesOf(entry)
    for (at <- whole.indices; bit <- 0 until 8) {
      val other = whole.clone()
      other(at) = (other(at) ^ (1 << bit)).toByte
      val isVersion = at >= 4 && at < 8
      if (isVersion) assert(refusal(LedgerEntry.read(7, other)).condition == "LEDGER_VERSION")
      else assert(damage(other).nonEmpty)
    }
    assert(damage(whole :+ 0.toByte).contains("bytes follow"))
  }

  test("a length that cannot be is none, also where somebody has made the checksum anew") {
    val whole = bytesOf(entry)
    val content = whole.drop(16)
    (0 to content.length - 4).foreach { at =>
      Seq(-5, Int.MinValue, Int.MaxValue, content.length + 1).foreach { length =>
        val other = content.clone()
        ByteBuffer.wrap(other).putInt(at, length)
        val crc = new CRC32C
        crc.update(other)
        val head = ByteBuffer.wrap(whole.take(16)).putInt(12, crc.getValue.toInt).array
        // It is an entry, though another, or damaged: nothing else.
        try LedgerEntry.read(7, head ++ other): Unit
        catch { case damaged: LedgerEntry.Damaged => assert(damaged.reason.nonEmpty) }
      }
    }
  }

  test("what is after the last field is no part of an entry") {
    val content = bytesOf(entry).drop(16) :+ 0.toByte
    val crc = new CRC32C
    crc.update(content)
    val head = ByteBuffer.allocate(16).putInt(0x45544c47).putInt(11)
    val file = head.putInt(content.length).putInt(crc.getValue.toInt).array ++ content
    assert(damage(file).contains("bytes after its last field"))
  }

  test("a file that is no ledger entry is refused by name") {
    val root = newRoot()
    write(open(root), 7, "batch 7")
    val file = filesIn(root).head.toPath
    Files.deleteIfExists(file.resolveSibling(".7.crc"))
    Files.write(file, new Array[Byte](100))
    val error = refusal(open(root).restore(8))
    assert(
      error.condition == "LEDGER_UNREADABLE" && error.getMessage.contains("not a ledger entry")
    )
  }

  test("a number that is written in another way names no entry") {
    val names = Seq("0", "-1", "7", "7.1", "007", "00", "+7", "-01", "7.01", "7.0", "-2")
    assert(names.filter(EntryName.parse(_).isDefined) == names.take(4))
  }

  test("an entry that was cut short is refused by name, wherever the cut is") {
    val root = newRoot()
    write(open(root), 0, "batch 0")
    val file = filesIn(root).head.toPath
    val whole = Files.readAllBytes(file)
    Files.deleteIfExists(file.resolveSibling(".0.crc"))
    (0 until whole.length).foreach { length =>
      Files.write(file, whole.take(length))
      val error = refusal(open(root).restore(1))
      assert(error.condition == "LEDGER_UNREADABLE" && error.getMessage.contains("too early"))
    }
  }
}
