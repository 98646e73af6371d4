package io.eventtide.kernel

import java.io.DataInput
import java.io.DataOutput
import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

/** Reads and writes a string of any length in a record; `writeUTF` is limited to 64 kB. */
object SavedText {
  private val Step = 1 << 16

  def write(out: DataOutput, text: String): Unit = {
    val bytes = text.getBytes(UTF_8)
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  def read(in: DataInput): String = new String(readBytes(in), UTF_8)

  /** Reads a number and that many bytes. Memory is used only for bytes that exist, because a damaged
    * number may be any number.
    */
  def readBytes(in: DataInput): Array[Byte] = {
    val length = in.readInt()
    if (length < 0) throw new IOException(s"$length is not a length")
    var bytes = new Array[Byte](math.min(length, Step))
    in.readFully(bytes)
    while (bytes.length < length) {
      val there = bytes.length
      bytes = Arrays.copyOf(bytes, there + math.min(there, length - there))
      in.readFully(bytes, there, bytes.length - there)
    }
    bytes
  }
}
