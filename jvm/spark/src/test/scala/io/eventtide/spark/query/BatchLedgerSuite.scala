package io.eventtide.spark.query

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.nio.ByteBuffer
import java.nio.file.Files

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.SavedText
import io.eventtide.spark.exec.NextDue
import io.eventtide.spark.{CheckpointConf, EventtideException}

class BatchLedgerSuite extends AnyFunSuite {
  private val conf = CheckpointConf()

  private def newRoot(): Path = new Path(Files.createTempDirectory("ledger").toUri)

  private def open(root: Path, retain: Int = 100): BatchLedger = new BatchLedger(root, retain, conf)

  private def write(ledger: BatchLedger, batchId: Long, state: String): Unit = {
    val after = if (ledger.wantsWhole) None else ledger.last
    ledger.write(
      LedgerEntry(batchId, after, held = false, Some(batchId * 1000), Seq(state.getBytes))
    )
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
    Seq("second", "third").foreach { state =>
      ledger.write(LedgerEntry(0, None, held = true, None, Seq(state.getBytes)))
    }
    assert(filesIn(root).map(_.getName) == Seq("0.2"))
    write(ledger, 1, "next")
    assert(restored(open(root), below = 2) == Seq("third", "next"))
  }

  test("a kill before the first revision went leaves both, and the last one counts") {
    val root = newRoot()
    val ledger = open(root)
    write(ledger, 0, "first")
    val first = filesIn(root).head.toPath
    val kept = Files.readAllBytes(first)
    ledger.write(LedgerEntry(0, None, held = true, None, Seq("second".getBytes)))
    Files.write(first, kept)
    assert(restored(open(root), below = 1) == Seq("second"))
    open(root).begin()
    assert(filesIn(root).isEmpty)
  }

  test("entries of all versions are read") {
    (1 to 6).foreach { version =>
      val entry = LedgerEntry.read(3, new DataInputStream(new ByteArrayInputStream(old(version))))
      assert((entry.after, entry.held, entry.emittedMicros) == ((Some(2L), true, Some(7000L))))
      assert(entry.inputs.map(new String(_)) == Seq("input"))
      assert(entry.settings == (if (version < 6) Nil else Seq("settings")))
      assert(entry.stateFormat == (if (version < 4) 0 else 5))
      assert(entry.rowsOnTime == (if (version < 2) 0 else 40))
      val due = SavedDue(
        NextDue(60, 70, if (version < 6) NextDue.Unknown else 80),
        if (version < 4) "" else "rules",
        if (version < 5) "" else "begins"
      )
      assert(entry.due == (if (version < 3) Nil else Seq(due)))
    }
  }

  /** An entry as an earlier version wrote it. */
  private def old(version: Int): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeInt(0x45544c47)
    out.writeInt(version)
    out.writeBoolean(true)
    out.writeLong(2)
    out.writeBoolean(true)
    out.writeBoolean(true)
    out.writeLong(7000)
    out.writeInt(1)
    out.writeInt(5)
    out.writeBytes("input")
    if (version >= 2) out.writeLong(40)
    if (version >= 3) {
      out.writeInt(1)
      out.writeLong(60)
      out.writeLong(70)
      if (version >= 4) out.writeUTF("rules")
      if (version >= 5) out.writeUTF("begins")
    }
    if (version >= 6) {
      out.writeLong(80)
      out.writeInt(1)
      SavedText.write(out, "settings")
    }
    bytes.toByteArray
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

  test("a run that never planned a batch leaves nothing") {
    val root = newRoot()
    write(open(root), -1, "begun")
    open(root).begin()
    assert(filesIn(root).isEmpty)
  }

  test("the newest entry comes back with all that it builds on") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 3L).foreach(id => write(ledger, id, s"batch $id"))
    assert(restored(open(root), below = 4) == (0 to 3).map(id => s"batch $id"))
  }

  test("every tenth entry is whole, so that no more than ten are read") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 10L).foreach(id => write(ledger, id, s"batch $id"))
    assert(restored(open(root), below = 11) == Seq("batch 10"))
    assert(restored(open(root), below = 10).length == 10)
  }

  test("entries of batches that will run again are forgotten") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 2L).foreach(id => write(ledger, id, s"batch $id"))
    val again = open(root)
    assert(restored(again, below = 2) == Seq("batch 0", "batch 1"))
    write(again, 2, "batch 2 again")
    assert(restored(open(root), below = 3).last == "batch 2 again")
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
    (0L to 40L).foreach(id => write(ledger, id, s"batch $id"))
    assert(filesIn(root).length == 15)
    assert(restored(open(root), below = 36).last == "batch 35")
  }

  private def parse(bytes: Array[Byte]): LedgerEntry =
    LedgerEntry.read(7, new DataInputStream(new ByteArrayInputStream(bytes)))

  test("an entry of another format version is refused by name") {
    val error = refusal(parse(ByteBuffer.allocate(8).putInt(0x45544c47).putInt(99).array))
    assert(error.condition == "LEDGER_VERSION" && error.getMessage.contains("99"))
  }

  test("a file that is no ledger entry is refused by name") {
    val root = newRoot()
    write(open(root), 7, "batch 7")
    val file = filesIn(root).head.toPath
    Files.delete(file.resolveSibling(".7.crc"))
    Files.write(file, new Array[Byte](100))
    val error = refusal(open(root).restore(8))
    assert(error.condition == "LEDGER_UNREADABLE" && error.getMessage.contains("not one of"))
  }

  test("an entry that was cut short is refused by name, wherever the cut is") {
    val root = newRoot()
    write(open(root), 0, "batch 0")
    val file = filesIn(root).head.toPath
    val whole = Files.readAllBytes(file)
    Files.delete(file.resolveSibling(".0.crc"))
    (0 until whole.length).foreach { length =>
      Files.write(file, whole.take(length))
      val error = refusal(open(root).restore(1))
      assert(error.condition == "LEDGER_UNREADABLE" && error.getMessage.contains("too early"))
    }
  }
}
