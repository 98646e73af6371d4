package io.eventtide.spark.operators.watermark

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** A hash map from strings to values; entries are never removed.
  *
  * A string of up to 16 bytes is represented by its first word, its last word (which may overlap
  * the first) and its length. These are in the table itself, so a lookup reads no other string. For
  * a longer string, a hash replaces the last word, and the strings are compared in full if all
  * three match. Open addressing, at most half full. A slot has four words, so it is in one line of
  * the CPU's cache.
  */
private[watermark] final class StringTable[V >: Null <: AnyRef] {
  private var words = new Array[Long](64 * 4) // first, second and length + 1; 0 in a free slot
  private var values = new Array[AnyRef](64)
  private var texts = new Array[UTF8String](64)
  private var shift = 64 - 6 // leaves as many bits of a hash as a slot has
  private var used = 0

  /** The value of a string, or null. */
  def find(text: UTF8String): V = {
    val first = StringTable.first(text)
    val second = StringTable.second(text)
    values(slotOf(text, first, second)).asInstanceOf[V]
  }

  /** Adds a string that is not in the table. The string is copied, since its row is reused. */
  def add(text: UTF8String, value: V): V = {
    if (used * 2 == values.length) grow()
    put(text.copy(), value)
    used += 1
    value
  }

  private def put(text: UTF8String, value: AnyRef): Unit = {
    val first = StringTable.first(text)
    val second = StringTable.second(text)
    val slot = slotOf(text, first, second)
    words(slot * 4) = first
    words(slot * 4 + 1) = second
    words(slot * 4 + 2) = text.numBytes + 1L
    values(slot) = value
    texts(slot) = text
  }

  /** The slot of the string, or the free slot for it. */
  private def slotOf(text: UTF8String, first: Long, second: Long): Int = {
    val mask = values.length - 1
    var slot = StringTable.spread(first, second, shift)
    while (words(slot * 4 + 2) != 0 && !isAt(slot, text, first, second)) slot = (slot + 1) & mask
    slot
  }

  private def isAt(slot: Int, text: UTF8String, first: Long, second: Long): Boolean = {
    val length = text.numBytes
    words(slot * 4) == first && words(slot * 4 + 1) == second &&
    words(slot * 4 + 2) == length + 1L && (length <= 16 || texts(slot).equals(text))
  }

  private def grow(): Unit = {
    val (oldTexts, oldValues) = (texts, values)
    words = new Array[Long](oldValues.length * 8)
    texts = new Array[UTF8String](oldValues.length * 2)
    values = new Array[AnyRef](oldValues.length * 2)
    shift -= 1
    for (i <- oldValues.indices if oldValues(i) != null) put(oldTexts(i), oldValues(i))
  }
}

private[watermark] object StringTable {
  private val Odd = 0x9e3779b97f4a7c15L
  private val OtherOdd = 0xd6e8feb86659fd93L

  private[watermark] def first(text: UTF8String): Long =
    if (text.numBytes >= 8) Platform.getLong(text.getBaseObject, text.getBaseOffset)
    else bytes(text)

  private[watermark] def second(text: UTF8String): Long = {
    val length = text.numBytes
    if (length <= 8) 0
    else if (length <= 16) lastWord(text)
    else hash(text)
  }

  private def lastWord(text: UTF8String): Long =
    Platform.getLong(text.getBaseObject, text.getBaseOffset + text.numBytes - 8)

  private def bytes(text: UTF8String): Long = {
    var word = 0L
    var i = 0
    while (i < text.numBytes) {
      word = (word << 8) | (Platform.getByte(text.getBaseObject, text.getBaseOffset + i) & 0xff)
      i += 1
    }
    word
  }

  private def hash(text: UTF8String): Long = {
    var mixed = lastWord(text)
    var i = 0
    while (i < text.numBytes - 8) {
      mixed = mix(mixed ^ Platform.getLong(text.getBaseObject, text.getBaseOffset + i))
      i += 8
    }
    mixed
  }

  /** The upper bits of a hash of a string's two words; the two products do not wait for each other.
    */
  private[watermark] def spread(first: Long, second: Long, shift: Int): Int =
    ((first * Odd + second * OtherOdd) >>> shift).toInt

  /** The upper half is folded down first, because a product carries upwards only. */
  private def mix(word: Long): Long = (word ^ (word >>> 32)) * Odd
}
