package io.eventtide.spark.checkpoint

import java.io.{DataOutputStream, OutputStream}
import java.nio.ByteBuffer
import java.util.zip.{CRC32C, CheckedOutputStream}

import scala.collection.immutable.SortedMap
import scala.util.control.NonFatal

import io.eventtide.kernel.SavedText
import io.eventtide.spark.EventtideException
import io.eventtide.spark.spi.{LateTotals, NextTimer, ReachedTime}
import io.eventtide.spark.state.FrameStore

/** The durable state of a query's policies after one batch; for batch -1, the initial state.
  *
  * @param after
  *   the entry to which this entry adds changes; None if this is a full entry
  * @param isHolding
  *   whether the next batch is not credited with time, because the query catches up after a start
  * @param emittedMicros
  *   the watermark last reported to Spark, a multiple of a millisecond; None while there is none
  * @param inputs
  *   the number of refused rows and the saved substreams of each input, by position
  * @param rowsOnTime
  *   the number of rows that windows have accepted, since the checkpoint began
  * @param late
  *   the totals in the index of late rows after the batch
  * @param due
  *   the next timers of each window, by position
  * @param settings
  *   the settings of each input in the run that wrote the entry, by position; only in a full entry
  * @param stateFormat
  *   the format version of the windows' state
  * @param clock
  *   the state of the query's clock
  * @param reachedMicros
  *   the event time that the query has reached; None before the first row
  * @param judging
  *   what the rows of the next batch are judged by
  * @param completeness
  *   the counted rows of each window, by position; empty for a window that is not counted
  */
private[spark] final case class LedgerEntry(
    batchId: Long,
    after: Option[EntryName],
    isHolding: Boolean,
    emittedMicros: Option[Long],
    inputs: Seq[Array[Byte]],
    rowsOnTime: Long = 0,
    late: LateTotals = LateTotals.None,
    due: Seq[SavedTimer] = Nil,
    settings: Seq[String] = Nil,
    stateFormat: Int = FrameStore.Version,
    clock: SavedClock = SavedClock.None,
    reachedMicros: Option[Long] = None,
    judging: ReachedTime = ReachedTime.None,
    completeness: Seq[Array[Byte]] = Nil
) {

  /** Refuses window state in an unknown format. */
  def checkState(): Unit = if (stateFormat != FrameStore.Version) {
    throw EventtideException("STATE_VERSION", "found" -> stateFormat, "known" -> FrameStore.Version)
  }

  /** Whether the query was drained: every window is closed and no more rows are accepted. */
  def isDrained: Boolean = emittedMicros.exists(micros => EndOfInput.isAtEnd(micros / 1000))

  /** Writes a file: a magic number, the format version, the length and CRC32C of the content, and
    * the content.
    *
    * The content is generated twice instead of buffered, because it may be a hundred megabytes.
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
    out.writeBoolean(isHolding)
    writeOption(out, emittedMicros)(out.writeLong)
    writeAll(out, inputs)(writeBytes(out, _))
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
    writeOption(out, reachedMicros)(out.writeLong)
    out.writeLong(judging.micros)
    out.writeLong(judging.watermarkMicros)
    writeAll(out, completeness)(writeBytes(out, _))
  }

  private def writeBytes(out: DataOutputStream, bytes: Array[Byte]): Unit = {
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  private def writeDue(out: DataOutputStream, saved: SavedTimer): Unit = {
    out.writeLong(saved.next.end)
    out.writeLong(saved.next.clockMicros)
    out.writeLong(saved.next.keys)
    SavedText.write(out, saved.timingOptions)
    SavedText.write(out, saved.nextBatchOptions)
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

  /** Incremented with every change of the format; see "State format" in CHANGELOG.md. */
  private val Version = 11

  /** Signals a damaged file. */
  final class Damaged(val reason: String) extends RuntimeException(reason)

  /** Reads an entry from a file's bytes. */
  def read(batchId: Long, file: Array[Byte]): LedgerEntry = {
    val bytes = ByteBuffer.wrap(file)
    def next(): Int =
      if (bytes.remaining < 4) throw new Damaged("it ends too early") else bytes.getInt()
    if (next() != Magic) throw new Damaged("it is not a ledger entry")
    checkVersion(batchId, next())
    checkContent(length = next(), checksum = next(), bytes.slice())
    val in = new LedgerInput(file, bytes.position)
    try in.whole(readContent(batchId, in))
    catch {
      case damaged: Damaged => throw damaged
      case NonFatal(_) => throw new Damaged("one of its fields is invalid")
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
    if (length < found) throw new Damaged(s"its header says $length bytes, but $found bytes follow")
    if (checksum != Checksum.of(content)) throw new Damaged("its checksum is wrong")
  }

  private def readContent(batchId: Long, in: LedgerInput): LedgerEntry = LedgerEntry(
    batchId,
    after = in.option(EntryName(in.long(), in.int())),
    isHolding = in.boolean(),
    emittedMicros = in.option(in.long()),
    inputs = in.all(in.bytes()),
    rowsOnTime = in.long(),
    late = LateTotals(in.option(in.long()), SortedMap.from(in.all(in.text() -> in.long()))),
    due = in.all(SavedTimer(NextTimer(in.long(), in.long(), in.long()), in.text(), in.text())),
    settings = in.all(in.text()),
    stateFormat = in.int(),
    clock = SavedClock(in.option(in.long()), in.long(), in.int()),
    reachedMicros = in.option(in.long()),
    judging = ReachedTime(in.long(), in.long()),
    completeness = in.all(in.bytes())
  )
}
