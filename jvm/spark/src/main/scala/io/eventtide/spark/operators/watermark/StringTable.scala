package io.eventtide.spark.operators.watermark

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Values by text; nothing is ever removed.
  *
  * A text of up to 16 bytes is its first word and its last, which may overlap, and its length: these
  * stand in the table itself, so that finding one reads no text but the one that is looked for. A
  * longer text has its hash in place of the last word, and is compared in full when all is the same.
  * Open addressing, at most half full.
  */
private[watermark] final class StringTable[V >: Null <: AnyRef] {
  private var words = new Array[Long](64 * 3) // first, second and length of each slot
  private var values = new Array[AnyRef](64) // null where the slot is free
  private var texts = new Array[UTF8String](64)
  private var used = 0

  /** The value of a text, or null. */
  def find(text: UTF8String): V = {
    val first = StringTable.first(text)
    val second = StringTable.second(text)
    values(slotOf(text, first, second)).asInstanceOf[V]
  }

  /** Adds a text that is not there; copies it, since a row is used again. */
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
    words(slot * 3) = first
    words(slot * 3 + 1) = second
    words(slot * 3 + 2) = text.numBytes.toLong
    values(slot) = value
    texts(slot) = text
  }

  /** Where the text is, or the free place where it belongs. */
  private def slotOf(text: UTF8String, first: Long, second: Long): Int = {
    val mask = values.length - 1
    var slot = StringTable.spread(first, second) & mask
    while (values(slot) != null && !isAt(slot, text, first, second)) slot = (slot + 1) & mask
    slot
  }

  private def isAt(slot: Int, text: UTF8String, first: Long, second: Long): Boolean = {
    val length = text.numBytes
    words(slot * 3) == first && words(slot * 3 + 1) == second &&
    words(slot * 3 + 2) == length && (length <= 16 || texts(slot).equals(text))
  }

  private def grow(): Unit = {
    val (oldTexts, oldValues) = (texts, values)
    words = new Array[Long](oldValues.length * 6)
    texts = new Array[UTF8String](oldValues.length * 2)
    values = new Array[AnyRef](oldValues.length * 2)
    for (i <- oldValues.indices if oldValues(i) != null) put(oldTexts(i), oldValues(i))
  }
}

private[watermark] object StringTable {
  private val Odd = 0x9e3779b97f4a7c15L

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

  /** A hash of a text's two words. */
  private[watermark] def spread(first: Long, second: Long): Int =
    (mix(mix(first) ^ second) >>> 32).toInt

  /** A product carries upwards only, so the upper half is folded down first. */
  private def mix(word: Long): Long = (word ^ (word >>> 32)) * Odd
}
