package io.eventtide.spark.checkpoint

import java.io.{DataOutputStream, OutputStream}
import java.nio.ByteBuffer
import java.util.zip.{CRC32C, CheckedOutputStream}

import scala.collection.immutable.SortedMap
import scala.util.control.NonFatal

import io.eventtide.kernel.SavedText
import io.eventtide.spark.EventtideException
import io.eventtide.spark.spi.{LateTotals, NextTimer}
import io.eventtide.spark.state.FrameStore

/** What is durable of a query's policies after one batch; after batch -1, what it begins with.
  *
  * @param after
  *   the entry that this one only adds changes to; None when it is whole
  * @param held
  *   the clock is not yet credited to the next batch: the query is catching up after a start
  * @param emittedMicros
  *   the watermark that Spark was told, in whole milliseconds; None while there is none
  * @param inputs
  *   the rows refused so far and the saved substreams of each input, by position
  * @param rowsOnTime
  *   rows that windows have taken so far
  * @param late
  *   what the index of late rows says after the batch
  * @param due
  *   what each window owes next, by position
  * @param settings
  *   how each input was asked for, by position, in the run that wrote the entry; only in a whole one
  * @param stateFormat
  *   of the state of windows
  * @param clock
  *   by which the query measures
  */
private[spark] final case class LedgerEntry(
    batchId: Long,
    after: Option[EntryName],
    held: Boolean,
    emittedMicros: Option[Long],
    inputs: Seq[Array[Byte]],
    rowsOnTime: Long = 0,
    late: LateTotals = LateTotals.None,
    due: Seq[SavedTimer] = Nil,
    settings: Seq[String] = Nil,
    stateFormat: Int = FrameStore.Version,
    clock: SavedClock = SavedClock.None
) {

  /** Refuses state of windows in a format that is not known. */
  def checkState(): Unit = if (stateFormat != FrameStore.Version) {
    throw EventtideException("STATE_VERSION", "found" -> stateFormat, "known" -> FrameStore.Version)
  }

  /** Whether every window has been closed, and no row can come any more. */
  def isDrained: Boolean = emittedMicros.exists(micros => EndOfInput.isAtEnd(micros / 1000))

  /** Writes the whole of a file: the number of the format, then length and CRC32C of what follows.
    *
    * The content is made twice instead of kept, as it may be a hundred megabytes.
    */
  def write(out: DataOutputStream): Unit = {
    val checked = new CheckedOutputStream(OutputStream.nullOutputStream, new CRC32C)
    val counted = new DataOutputStream(checked)
    writeContent(counted)
    out.writeInt(LedgerEntry.Magic)
    out.writeInt(LedgerEntry.Version)
    out.writeInt(counted.size)
    out.writeInt(checked.getChecksum.getValue.toInt)
    writeContent(out)
  }

  private def writeContent(out: DataOutputStream): Unit = {
    writeOption(out, after) { name =>
      out.writeLong(name.batchId)
      out.writeInt(name.revision)
    }
    out.writeBoolean(held)
    writeOption(out, emittedMicros)(out.writeLong)
    writeAll(out, inputs) { bytes =>
      out.writeInt(bytes.length)
      out.write(bytes)
    }
    out.writeLong(rowsOnTime)
    writeOption(out, late.last)(out.writeLong)
    writeAll(out, late.rows.toSeq) { case (reason, rows) =>
      SavedText.write(out, reason)
      out.writeLong(rows)
    }
    writeAll(out, due)(writeDue(out, _))
    writeAll(out, settings)(SavedText.write(out, _))
    out.writeInt(stateFormat)
    writeOption(out, clock.lastMicros)(out.writeLong)
    out.writeLong(clock.aheadMicros)
    out.writeInt(clock.steps)
  }

  private def writeDue(out: DataOutputStream, saved: SavedTimer): Unit = {
    out.writeLong(saved.next.end)
    out.writeLong(saved.next.clockMicros)
    out.writeLong(saved.next.keys)
    SavedText.write(out, saved.rules)
    SavedText.write(out, saved.begins)
  }

  private def writeOption[A](out: DataOutputStream, value: Option[A])(write: A => Unit): Unit = {
    out.writeBoolean(value.isDefined)
    value.foreach(write)
  }

  private def writeAll[A](out: DataOutputStream, values: Seq[A])(write: A => Unit): Unit = {
    out.writeInt(values.length)
    values.foreach(write)
  }
}

private[spark] object LedgerEntry {
  private val Magic = 0x45544c47 // ETLG

  /** Raised with every change of the format; see "State format" in CHANGELOG.md. */
  private val Version = 9

  /** What a file holds that is not as it was written. */
  final class Damaged(val reason: String) extends RuntimeException(reason)

  /** Reads the whole of a file. */
  def read(batchId: Long, file: Array[Byte]): LedgerEntry = {
    val bytes = ByteBuffer.wrap(file)
    def next(): Int =
      if (bytes.remaining < 4) throw new Damaged("it ends too early") else bytes.getInt()
    if (next() != Magic) throw new Damaged("it is not one of Eventtide's")
    checkVersion(batchId, next())
    checkContent(length = next(), checksum = next(), bytes.slice())
    val in = new LedgerInput(file, bytes.position)
    try in.whole(readContent(batchId, in))
    catch {
      case damaged: Damaged => throw damaged
      case NonFatal(_) => throw new Damaged("a field of it is not as Eventtide writes it")
    }
  }

  private def checkVersion(batchId: Long, version: Int): Unit = if (version != Version) {
    throw EventtideException(
      "LEDGER_VERSION",
      "batch" -> batchId,
      "found" -> version,
      "known" -> Version
    )
  }

  private def checkContent(length: Int, checksum: Int, content: ByteBuffer): Unit = {
    val found = content.remaining
    if (length > found) throw new Damaged("it ends too early")
    if (length < found) throw new Damaged(s"it says that $length bytes follow, and has $found")
    if (checksum != Checksum.of(content)) throw new Damaged("its checksum is wrong")
  }

  private def readContent(batchId: Long, in: LedgerInput): LedgerEntry = LedgerEntry(
    batchId,
    after = in.option(EntryName(in.long(), in.int())),
    held = in.boolean(),
    emittedMicros = in.option(in.long()),
    inputs = in.all(in.bytes()),
    rowsOnTime = in.long(),
    late = LateTotals(in.option(in.long()), SortedMap.from(in.all(in.text() -> in.long()))),
    due = in.all(SavedTimer(NextTimer(in.long(), in.long(), in.long()), in.text(), in.text())),
    settings = in.all(in.text()),
    stateFormat = in.int(),
    clock = SavedClock(in.option(in.long()), in.long(), in.int())
  )
}
