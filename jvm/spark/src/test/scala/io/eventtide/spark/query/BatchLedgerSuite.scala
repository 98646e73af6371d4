package io.eventtide.spark.query

import java.io.{ByteArrayInputStream, DataInputStream}
import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.EventtideException

class BatchLedgerSuite extends AnyFunSuite {
  private val conf = new Configuration()

  private def newRoot(): Path = new Path(Files.createTempDirectory("ledger").toUri)

  private def open(root: Path, retain: Int = 100): BatchLedger = new BatchLedger(root, retain, conf)

  private def write(ledger: BatchLedger, batchId: Long, state: String): Unit = {
    val after = if (ledger.wantsWhole) None else ledger.last
    ledger.write(
      LedgerEntry(batchId, after, held = false, Some(batchId * 1000), Seq(state.getBytes))
    )
  }

  private def restored(ledger: BatchLedger, below: Long = Long.MaxValue): Seq[String] =
    ledger.restore(below).map(entry => new String(entry.inputs.head))

  test("an empty ledger has nothing to restore") {
    assert(open(newRoot()).restore(0).isEmpty)
  }

  test("the newest entry comes back with all that it builds on") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 3L).foreach(id => write(ledger, id, s"batch $id"))
    assert(restored(open(root)) == (0 to 3).map(id => s"batch $id"))
  }

  test("every tenth entry is whole, so that no more than ten are read") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 10L).foreach(id => write(ledger, id, s"batch $id"))
    assert(restored(open(root)) == Seq("batch 10"))
    assert(restored(open(root), below = 10).length == 10)
  }

  test("entries of batches that will run again are forgotten") {
    val root = newRoot()
    val ledger = open(root)
    (0L to 2L).foreach(id => write(ledger, id, s"batch $id"))
    val again = open(root)
    assert(restored(again, below = 2) == Seq("batch 0", "batch 1"))
    write(again, 2, "batch 2 again")
    assert(restored(open(root)).last == "batch 2 again")
  }

  test("the first entry of a run is whole") {
    val root = newRoot()
    write(open(root), 0, "batch 0")
    val next = open(root)
    next.restore(1)
    write(next, 1, "batch 1")
    assert(restored(open(root)) == Seq("batch 1"))
  }

  test("old entries go, but never one that may still be restored") {
    val root = newRoot()
    val ledger = open(root, retain = 5)
    (0L to 40L).foreach(id => write(ledger, id, s"batch $id"))
    val kept = new java.io.File(new Path(root, "eventtide/ledger").toUri).listFiles
    assert(kept.count(!_.getName.startsWith(".")) == 15)
    assert(restored(open(root), below = 36).last == "batch 35")
  }

  test("an entry of another format version is refused by name") {
    val bytes = java.nio.ByteBuffer.allocate(8).putInt(0x45544c47).putInt(99).array
    val error = intercept[EventtideException] {
      LedgerEntry.read(7, new DataInputStream(new ByteArrayInputStream(bytes)))
    }
    assert(error.condition == "LEDGER_VERSION" && error.getMessage.contains("99"))
  }

  test("a file that is no ledger entry is refused by name") {
    val error = intercept[EventtideException] {
      LedgerEntry.read(7, new DataInputStream(new ByteArrayInputStream(new Array[Byte](8))))
    }
    assert(error.condition == "LEDGER_UNREADABLE" && error.getMessage.contains("batch 7"))
  }
}
