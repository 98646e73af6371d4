package io.eventtide.spark.exec

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Values by text, to be found again at the cost of reading the text twice.
  *
  * Spark's own hash of a text goes byte by byte at its end; this one takes overlapping words. Open
  * addressing, at most half full; nothing is ever removed.
  */
private[exec] final class TextTable[V >: Null <: AnyRef] {
  private var keys = new Array[UTF8String](64)
  private var values = new Array[AnyRef](64)
  private var used = 0

  /** The value of a text, or null. */
  def find(text: UTF8String): V = values(slotOf(text)).asInstanceOf[V]

  /** Adds a text that is not there; copies it, since a row is used again. */
  def add(text: UTF8String, value: V): V = {
    if (used * 2 == keys.length) grow()
    put(text.copy(), value)
    used += 1
    value
  }

  private def put(text: UTF8String, value: AnyRef): Unit = {
    val slot = slotOf(text)
    keys(slot) = text
    values(slot) = value
  }

  /** Where the text is, or the free place where it belongs. */
  private def slotOf(text: UTF8String): Int = {
    val mask = keys.length - 1
    var slot = TextTable.hash(text) & mask
    while (keys(slot) != null && !keys(slot).equals(text)) slot = (slot + 1) & mask
    slot
  }

  private def grow(): Unit = {
    val (oldKeys, oldValues) = (keys, values)
    keys = new Array[UTF8String](oldKeys.length * 2)
    values = new Array[AnyRef](oldKeys.length * 2)
    for (i <- oldKeys.indices if oldKeys(i) != null) put(oldKeys(i), oldValues(i))
  }
}

private[exec] object TextTable {
  private val Odd = 0x9e3779b97f4a7c15L

  def hash(text: UTF8String): Int = {
    val base = text.getBaseObject
    val start = text.getBaseOffset
    val length = text.numBytes
    var mixed = length.toLong
    if (length < 8) {
      var i = 0
      while (i < length) { mixed = mixed * 31 + Platform.getByte(base, start + i); i += 1 }
    } else {
      var i = 0
      while (i < length - 8) { mixed = mix(mixed ^ Platform.getLong(base, start + i)); i += 8 }
      mixed ^= Platform.getLong(base, start + length - 8)
    }
    (mix(mixed) >>> 32).toInt
  }

  /** A product carries upwards only, so the upper half, where a text's end lies, is folded down. */
  private def mix(word: Long): Long = (word ^ (word >>> 32)) * Odd
}
