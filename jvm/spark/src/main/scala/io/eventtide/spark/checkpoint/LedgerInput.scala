package io.eventtide.spark.checkpoint

import java.io.{ByteArrayInputStream, DataInputStream}
import java.nio.charset.StandardCharsets.UTF_8

/** Reads the content of a ledger entry, which begins at `offset` of a file. It rejects lengths that
  * exceed the rest of the file.
  */
private[checkpoint] final class LedgerInput(file: Array[Byte], offset: Int) {
  private val in = new DataInputStream(
    new ByteArrayInputStream(file, offset, file.length - offset)
  )

  /** Reads a value that must end at the end of the content. */
  def whole[A](read: => A): A = {
    val value = read
    if (in.available > 0) throw new LedgerEntry.Damaged("there are bytes after its last field")
    value
  }

  def boolean(): Boolean = in.readBoolean()

  def int(): Int = in.readInt()

  def long(): Long = in.readLong()

  def bytes(): Array[Byte] = {
    val bytes = new Array[Byte](length())
    in.readFully(bytes)
    bytes
  }

  def text(): String = new String(bytes(), UTF_8)

  def option[A](read: => A): Option[A] = Option.when(boolean())(read)

  /** Reads a count and that many elements, each at least one byte long. */
  def all[A](read: => A): Seq[A] = Seq.fill(length())(read)

  private def length(): Int = {
    val length = in.readInt()
    if (length < 0 || length > in.available) {
      throw new LedgerEntry.Damaged(s"a length in it is $length, but ${in.available} bytes follow")
    }
    length
  }
}
