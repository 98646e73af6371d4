package io.eventtide.spark.operators.preagg

/** A hash table of the places of records, by open addressing.
  *
  * An entry has the upper half of a hash and the number of a record. The slot comes from the upper
  * half too, so that growing needs no more than the entries.
  *
  * @param reserve
  *   whether so many bytes more may be used
  */
private[preagg] final class RecordHashIndex(reserve: Long => Boolean) {
  import RecordHashIndex._

  private var entries: Array[Long] = _
  private var mask = 0
  private var count = 0
  private var granted = FirstSlots // entries that may be kept
  private var full = !reserve(FirstSlots * 8L)
  resize(FirstSlots)

  def isFull: Boolean = full

  def size: Int = count

  /** Where to look first. */
  def first(hash: Long): Int = (hash >>> 32).toInt & mask

  /** Where to look after that. */
  def next(slot: Int): Int = (slot + 1) & mask

  /** The record in a slot; `Free` if there is none, `Other` if it has another hash. */
  def record(slot: Int, hash: Long): Int = {
    val entry = entries(slot)
    if (entry == 0) Free else if ((entry ^ hash) >>> 32 == 0) entry.toInt - 1 else Other
  }

  /** Puts another record of its key into a slot. */
  def set(slot: Int, hash: Long, record: Int): Unit =
    entries(slot) = hash & UpperHalf | (record + 1)

  /** Puts the first record of a key into a free slot; all may be in others afterwards. */
  def add(slot: Int, hash: Long, record: Int): Unit = {
    set(slot, hash, record)
    count += 1
    if (count > entries.length / 2) grow() // or it would be slow
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
