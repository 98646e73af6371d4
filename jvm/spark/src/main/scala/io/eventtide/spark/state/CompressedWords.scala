package io.eventtide.spark.state

import java.nio.ByteOrder

import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** The words of a row, without the zero bytes at the upper or the lower end of each word.
  *
  * Counts have zeros at the upper end, and doubles with few digits have zeros at the lower end. So
  * a buffer is compressed to a half or a third of its bytes. A byte before each pair of words holds
  * their length codes, in four bits each. A code up to 8 is the number of lower bytes; a code above
  * 8 is 8 plus the number of upper bytes.
  */
private[state] object CompressedWords {

  def write(row: AnyRef, offset: Long, words: Int, out: ByteSink): Unit = {
    // A whole word is written first, and its unused bytes are overwritten by the next one.
    val start = out.reserve((words + 1) / 2 + 8 * words + 8)
    val bytes = out.bytes
    var at = start
    var i = 0
    while (i < words) {
      val first = Platform.getLong(row, offset + 8L * i)
      val second = if (i + 1 < words) Platform.getLong(row, offset + 8L * i + 8) else 0L
      val (a, b) = (lengthCode(first), lengthCode(second))
      bytes(at) = (a | b << 4).toByte
      at = put(bytes, at + 1, first, a)
      at = put(bytes, at, second, b)
      i += 2
    }
    out.leave(at)
  }

  private def lengthCode(word: Long): Int =
    if (word == 0) 0
    else {
      val above = java.lang.Long.numberOfLeadingZeros(word) >>> 3
      val below = java.lang.Long.numberOfTrailingZeros(word) >>> 3
      if (above >= below) 8 - above else 16 - below
    }

  private def length(code: Int): Int = if (code <= 8) code else code - 8

  /** The shift in bits that moves the bytes of a word with this length code to the lower end. */
  private def shift(code: Int): Int = if (code <= 8) 0 else (16 - code) << 3

  private def put(bytes: Array[Byte], at: Int, word: Long, code: Int): Int = {
    val lower = word >>> shift(code)
    if (AsTheyLie) Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at, lower)
    else putBytes(bytes, at, lower)
    at + length(code)
  }

  private def putBytes(bytes: Array[Byte], at: Int, word: Long): Unit = {
    var i = 0
    while (i < 8) {
      bytes(at + i) = (word >>> 8 * i).toByte
      i += 1
    }
  }

  def read(in: ByteSource, row: AnyRef, offset: Long, words: Int): Unit = {
    val bytes = in.bytes
    val start = in.position
    var at = start
    var i = 0
    while (i < words) {
      val codes = bytes(at) & 0xff
      val (a, b) = (codes & 15, codes >>> 4)
      at += 1
      Platform.putLong(row, offset + 8L * i, get(bytes, at, a))
      at += length(a)
      if (i + 1 < words) Platform.putLong(row, offset + 8L * i + 8, get(bytes, at, b))
      at += length(b)
      i += 2
    }
    in.skip(at - start): Unit
  }

  private def get(bytes: Array[Byte], at: Int, code: Int): Long =
    if (code == 0) 0L
    else {
      val others = 64 - 8 * length(code)
      wordAt(bytes, at) << others >>> others << shift(code)
    }

  private def wordAt(bytes: Array[Byte], at: Int): Long =
    if (AsTheyLie && at + 8 <= bytes.length)
      Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)
    else getBytes(bytes, at)

  private def getBytes(bytes: Array[Byte], at: Int): Long = {
    var word = 0L
    var i = math.min(at + 8, bytes.length) - 1
    while (i >= at) {
      word = word << 8 | bytes(i) & 0xff
      i -= 1
    }
    word
  }

  /** Whether the machine is little-endian and supports unaligned access. */
  private val AsTheyLie =
    Platform.unaligned() && ByteOrder.nativeOrder == ByteOrder.LITTLE_ENDIAN
}
