package io.eventtide.spark.query

import java.io.{DataInputStream, DataOutputStream, EOFException}

import io.eventtide.kernel.SavedText
import io.eventtide.spark.EventtideException
import io.eventtide.spark.exec.NextDue
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
  * @param due
  *   what each window owes next, by position
  * @param settings
  *   how each input was asked for, by position, for whoever reads the entry without the query; only
  *   in a whole one
  * @param stateFormat
  *   of the state of windows; 0 for one that is too old to be written down
  */
private[query] final case class LedgerEntry(
    batchId: Long,
    after: Option[Long],
    held: Boolean,
    emittedMicros: Option[Long],
    inputs: Seq[Array[Byte]],
    rowsOnTime: Long = 0,
    due: Seq[SavedDue] = Nil,
    settings: Seq[String] = Nil,
    stateFormat: Int = FrameStore.Version
) {

  /** Refuses state of windows in a format that is not known. */
  def checkState(): Unit = if (stateFormat != FrameStore.Version) {
    val found = if (stateFormat == 0) "4 or below" else s"$stateFormat"
    throw EventtideException("STATE_VERSION", "found" -> found, "known" -> FrameStore.Version)
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(LedgerEntry.Magic)
    out.writeInt(LedgerEntry.Version)
    writeOption(out, after)
    out.writeBoolean(held)
    writeOption(out, emittedMicros)
    out.writeInt(inputs.length)
    inputs.foreach { bytes =>
      out.writeInt(bytes.length)
      out.write(bytes)
    }
    out.writeLong(rowsOnTime)
    out.writeInt(due.length)
    due.foreach { case SavedDue(next, rules, begins) =>
      out.writeLong(next.end)
      out.writeLong(next.clockMicros)
      out.writeUTF(rules)
      out.writeUTF(begins)
      out.writeLong(next.keys)
    }
    out.writeInt(settings.length)
    settings.foreach(SavedText.write(out, _))
    out.writeInt(stateFormat)
  }

  private def writeOption(out: DataOutputStream, value: Option[Long]): Unit = {
    out.writeBoolean(value.isDefined)
    value.foreach(out.writeLong)
  }
}

private[query] object LedgerEntry {
  private val Magic = 0x45544c47 // ETLG

  /** A file that is no ledger entry. */
  final class Foreign extends RuntimeException

  /** Raised with every change of the format; see "State format" in CHANGELOG.md. */
  private val Version = 7

  def read(batchId: Long, in: DataInputStream): LedgerEntry = {
    if (in.readInt() != Magic) {
      throw new Foreign
    }
    val version = in.readInt()
    if (version < 1 || version > Version) {
      throw EventtideException(
        "LEDGER_VERSION",
        "batch" -> batchId,
        "found" -> version,
        "known" -> Version
      )
    }
    LedgerEntry(
      batchId,
      after = readOption(in),
      held = in.readBoolean(),
      emittedMicros = readOption(in),
      inputs = Seq.fill(in.readInt())(readBytes(in)),
      rowsOnTime = if (version < 2) 0 else in.readLong(),
      due = if (version < 3) Nil else Seq.fill(in.readInt())(readDue(in, version)),
      settings = if (version < 6) Nil else Seq.fill(in.readInt())(SavedText.read(in)),
      stateFormat = if (version < 7) stateBeside(version) else in.readInt()
    )
  }

  // Of those that did not write it: with version 4 came format 5.
  private def stateBeside(version: Int): Int = if (version < 4) 0 else 5

  private def readDue(in: DataInputStream, version: Int): SavedDue = {
    val (end, clockMicros) = (in.readLong(), in.readLong())
    val rules = if (version < 4) "" else in.readUTF()
    val begins = if (version < 5) "" else in.readUTF()
    SavedDue(
      NextDue(end, clockMicros, if (version < 6) NextDue.Unknown else in.readLong()),
      rules,
      begins
    )
  }

  private def readBytes(in: DataInputStream): Array[Byte] = {
    val length = in.readInt()
    val bytes = in.readNBytes(length) // which says nothing when there are fewer
    if (bytes.length < length) throw new EOFException
    bytes
  }

  private def readOption(in: DataInputStream): Option[Long] =
    if (in.readBoolean()) Some(in.readLong()) else None
}
