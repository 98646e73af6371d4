package io.eventtide.kernel

import java.io.DataInput
import java.io.DataOutput

/** The version byte in front of every saved record.
  *
  *   - '''Guarantee:''' only the present version is read; any other version is rejected.
  *   - '''Restart:''' each record type counts its format versions from 1.
  */
object StateVersion {
  def write(out: DataOutput, version: Int): Unit = out.writeByte(version)

  /** Rejects an unknown version of a record of `piece`. */
  def check(found: Int, piece: String, known: Int): Unit =
    if (found != known) throw new UnknownStateVersion(piece, found, known)

  /** Checks the version in front of a record of `piece`. */
  def read(in: DataInput, piece: String, known: Int): Unit =
    check(in.readUnsignedByte(), piece, known)
}
