package io.eventtide.spark.query

import java.io.{DataInputStream, DataOutputStream}

import io.eventtide.spark.EventtideException

/** What is durable of a query's policies after one batch.
  *
  * @param after
  *   the entry that this one only adds changes to; None when it is whole
  * @param held
  *   the clock was not yet credited, since the query was catching up after a restart
  * @param emittedMicros
  *   the watermark that Spark was told, in whole milliseconds; None while there is none
  * @param inputs
  *   the saved substreams of each input, by position
  */
private[query] final case class LedgerEntry(
    batchId: Long,
    after: Option[Long],
    held: Boolean,
    emittedMicros: Option[Long],
    inputs: Seq[Array[Byte]]
) {

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
  }

  private def writeOption(out: DataOutputStream, value: Option[Long]): Unit = {
    out.writeBoolean(value.isDefined)
    value.foreach(out.writeLong)
  }
}

private[query] object LedgerEntry {
  private val Magic = 0x45544c47 // ETLG

  /** Raised with every change of the format; see "State format" in CHANGELOG.md. */
  private val Version = 1

  def read(batchId: Long, in: DataInputStream): LedgerEntry = {
    if (in.readInt() != Magic) {
      throw EventtideException("LEDGER_UNREADABLE", "batch" -> batchId)
    }
    val version = in.readInt()
    if (version != Version) {
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
      inputs = Seq.fill(in.readInt())(in.readNBytes(in.readInt()))
    )
  }

  private def readOption(in: DataInputStream): Option[Long] =
    if (in.readBoolean()) Some(in.readLong()) else None
}
