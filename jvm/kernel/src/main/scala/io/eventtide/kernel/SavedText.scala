package io.eventtide.kernel

import java.io.DataInput
import java.io.DataOutput
import java.nio.charset.StandardCharsets.UTF_8

/** Reads and writes a string of any length in a record; `writeUTF` is limited to 64 kB. */
object SavedText {
  def write(out: DataOutput, text: String): Unit = {
    val bytes = text.getBytes(UTF_8)
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  def read(in: DataInput): String = {
    val bytes = new Array[Byte](in.readInt())
    in.readFully(bytes)
    new String(bytes, UTF_8)
  }
}
