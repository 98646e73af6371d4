package io.eventtide.spark.operators.watermark

/** A hash map from integers to values; entries are never removed.
  *
  * The slot of a key is given by the upper bits of a product, so that keys that differ in any bits
  * are spread. Open addressing, at most half full.
  */
private[watermark] final class LongTable[V >: Null <: AnyRef] {
  private var keys = new Array[Long](64)
  private var values = new Array[AnyRef](64) // null where the slot is free
  private var shift = 64 - 6 // leaves as many bits of a hash as a slot has
  private var used = 0

  /** The value of a key, or null. */
  def find(key: Long): V = values(slotOf(key)).asInstanceOf[V]

  /** Adds a key that is not in the table. */
  def add(key: Long, value: V): V = {
    if (used * 2 == values.length) grow()
    put(key, value)
    used += 1
    value
  }

  private def put(key: Long, value: AnyRef): Unit = {
    val slot = slotOf(key)
    keys(slot) = key
    values(slot) = value
  }

  /** The slot of the key, or the free slot for it. */
  private def slotOf(key: Long): Int = {
    val mask = values.length - 1
    var slot = LongTable.hash(key, shift)
    while (values(slot) != null && keys(slot) != key) slot = (slot + 1) & mask
    slot
  }

  private def grow(): Unit = {
    val (oldKeys, oldValues) = (keys, values)
    keys = new Array[Long](oldKeys.length * 2)
    values = new Array[AnyRef](oldKeys.length * 2)
    shift -= 1
    for (i <- oldValues.indices if oldValues(i) != null) put(oldKeys(i), oldValues(i))
  }
}

private[watermark] object LongTable {
  private val Odd = 0x9e3779b97f4a7c15L

  private[watermark] def hash(key: Long, shift: Int): Int = ((key * Odd) >>> shift).toInt
}
