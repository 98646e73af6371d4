package io.eventtide.kernel

import java.io.DataInput
import java.io.DataOutput

/** The version byte in front of every saved record.
  *
  *   - '''Guarantee:''' a version from 1 to the newest is read; any other version is rejected.
  *   - '''Restart:''' each record type counts its format versions from 1. A type with a new format
  *     still reads the old ones.
  */
object StateVersion {
  def write(out: DataOutput, version: Int): Unit = out.writeByte(version)

  /** Rejects an unknown version of a record of `piece`. */
  def check(found: Int, piece: String, newest: Int): Unit =
    if (found < 1 || found > newest) throw new UnknownStateVersion(piece, found, newest)

  /** Reads the version in front of a record of `piece`. */
  def read(in: DataInput, piece: String, newest: Int): Int = {
    val found = in.readUnsignedByte()
    check(found, piece, newest)
    found
  }
}
