package io.eventtide.kernel

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.DataInput
import java.io.DataInputStream
import java.io.DataOutput
import java.io.DataOutputStream

/** What a piece saved, as bytes, for suites that restart it. */
final case class Saved(bytes: Seq[Byte]) {
  def input: DataInputStream = new DataInputStream(new ByteArrayInputStream(bytes.toArray))

  /** Restores, and checks that nothing of the record is left over. */
  def into(restore: DataInput => Unit): Unit = {
    val in = input
    restore(in)
    assert(in.read() == -1, "the record was not read to its end")
  }

  /** The same record with another version in front. */
  def withVersion(version: Int): Saved = Saved(version.toByte +: bytes.tail)
}

object Saved {
  def by(save: DataOutput => Unit): Saved = {
    val bytes = new ByteArrayOutputStream
    save(new DataOutputStream(bytes))
    Saved(bytes.toByteArray.toSeq)
  }
}
