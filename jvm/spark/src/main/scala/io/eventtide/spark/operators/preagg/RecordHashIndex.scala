package io.eventtide.spark.operators.preagg

/** A hash table of record offsets, by open addressing.
  *
  * An entry has the upper half of a hash and a record's offset. The slot is derived from the upper
  * half too, so growing the table needs only the entries.
  *
  * @param reserve
  *   reserves this number of bytes; false if they are not available
  */
private[preagg] final class RecordHashIndex(reserve: Long => Boolean) {
  import RecordHashIndex._

  private var entries: Array[Long] = _
  private var mask = 0
  private var count = 0
  private var granted = FirstSlots // entries that may be retained
  private var full = !reserve(FirstSlots * 8L)
  resize(FirstSlots)

  def isFull: Boolean = full

  def size: Int = count

  /** The first slot to probe for a hash. */
  def first(hash: Long): Int = (hash >>> 32).toInt & mask

  /** The next slot to probe. */
  def next(slot: Int): Int = (slot + 1) & mask

  /** The record in a slot; `Free` if the slot is free, `Other` if its entry has another hash. */
  def record(slot: Int, hash: Long): Int = {
    val entry = entries(slot)
    if (entry == 0) Free else if ((entry ^ hash) >>> 32 == 0) entry.toInt - 1 else Other
  }

  /** Replaces the record in a slot with another record of the same key. */
  def set(slot: Int, hash: Long, record: Int): Unit =
    entries(slot) = hash & UpperHalf | (record + 1)

  /** Adds the first record of a key to a free slot. All entries may be in other slots afterwards.
    */
  def add(slot: Int, hash: Long, record: Int): Unit = {
    set(slot, hash, record)
    count += 1
    if (count > entries.length / 2) grow() // keeps probing fast
  }

  private def grow(): Unit = {
    val old = entries
    resize(old.length * 2)
    if (reserve((entries.length - granted) * 8L)) granted = entries.length else full = true
    var i = 0
    while (i < old.length) {
      if (old(i) != 0) insert(old(i))
      i += 1
    }
  }

  private def insert(entry: Long): Unit = {
    var slot = first(entry)
    while (entries(slot) != 0) slot = next(slot)
    entries(slot) = entry
  }

  def clear(): Unit = {
    if (entries.length > granted) resize(granted) else java.util.Arrays.fill(entries, 0)
    count = 0
    full = false
  }

  private def resize(slots: Int): Unit = {
    entries = new Array[Long](slots)
    mask = slots - 1
  }
}

private[preagg] object RecordHashIndex {
  val Free: Int = -1
  val Other: Int = -2

  private val FirstSlots = 1 << 12
  private val UpperHalf = 0xffffffff00000000L
}
