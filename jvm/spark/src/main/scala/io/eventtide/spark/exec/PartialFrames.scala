package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowJoiner
import org.apache.spark.unsafe.Platform

/** Aggregation buffers by key and frame, all in one array, which are then given away by key.
  *
  * {{{
  *   record   frame | words of the key, next record of the key | key | buffer
  * }}}
  *
  * A row finds its record by key and frame at once. Only a frame that is new to a key looks for the
  * key itself, whose records are a chain.
  *
  * When it may have no more memory it is full. It takes rows all the same, so that nobody has to ask
  * before each, and is given away as soon as it can be.
  *
  * @param keyColumns
  *   how many columns a key has
  * @param empty
  *   a buffer that has taken nothing
  * @param joiner
  *   of a key and its packed frames
  * @param reserve
  *   whether so many bytes more may be used
  */
private[exec] final class PartialFrames(
    keyColumns: Int,
    empty: UnsafeRow,
    joiner: UnsafeRowJoiner,
    reserve: Long => Boolean
) {
  import PartialFrames._

  private val bufferBytes = empty.getSizeInBytes
  private val bufferWords = bufferBytes >> 3
  private val buffer = new UnsafeRow(empty.numFields)
  private val byFrame = new RecordSlots
  private val byKey = new RecordSlots
  private var records = new Array[Long](FirstWords)
  private var used = 0
  private var full = !reserve(bytes)

  def isFull: Boolean = full

  /** The memory it has, in bytes. */
  def bytes: Long = records.length * 8L + byFrame.bytes + byKey.bytes

  /** The buffer of a frame of a key, to be changed in place before the next one is asked for. */
  def buffer(key: UnsafeRow, frame: Long): UnsafeRow = {
    val keyHash = hash(key)
    val frameHash = mix(keyHash + frame * Golden)
    var slot = byFrame.first(frameHash)
    var record = byFrame.record(slot, frameHash)
    while (record != RecordSlots.Free && !isFrame(record, frame, key)) {
      slot = byFrame.next(slot)
      record = byFrame.record(slot, frameHash)
    }
    if (record == RecordSlots.Free) {
      record = add(key, keyHash, frame)
      byFrame.set(slot, frameHash, record)
      grow(byFrame)
    }
    buffer.pointTo(records, place(bufferOf(record)), bufferBytes)
    buffer
  }

  private def isFrame(record: Int, frame: Long, key: UnsafeRow): Boolean =
    record >= 0 && records(record) == frame && isKey(record, key)

  private def isKey(record: Int, key: UnsafeRow): Boolean = {
    val words = keyWords(record)
    val bytes = key.getBaseObject
    val offset = key.getBaseOffset
    var same = words << 3 == key.getSizeInBytes
    var i = 0
    while (same && i < words) {
      same = records(record + Header + i) == Platform.getLong(bytes, offset + (i << 3))
      i += 1
    }
    same
  }

  private def add(key: UnsafeRow, keyHash: Long, frame: Long): Int = {
    val keyWords = key.getSizeInBytes >> 3
    val record = used
    makeRoom(Header + keyWords + bufferWords)
    records(record) = frame
    key.writeToMemory(records, place(record + Header))
    empty.writeToMemory(records, place(record + Header + keyWords))
    val rest = putFirst(record, key, keyHash)
    records(record + 1) = keyWords.toLong << 32 | rest & 0xffffffffL
    record
  }

  /** Makes a record the first of its key; answers the one that was. */
  private def putFirst(record: Int, key: UnsafeRow, keyHash: Long): Int = {
    var slot = byKey.first(keyHash)
    var found = byKey.record(slot, keyHash)
    while (found != RecordSlots.Free && !(found >= 0 && isKey(found, key))) {
      slot = byKey.next(slot)
      found = byKey.record(slot, keyHash)
    }
    byKey.set(slot, keyHash, record)
    if (found == RecordSlots.Free) grow(byKey)
    found
  }

  private def keyWords(record: Int): Int = (records(record + 1) >>> 32).toInt
  private def rest(record: Int): Int = records(record + 1).toInt // negative at the end of a chain
  private def bufferOf(record: Int): Int = record + Header + keyWords(record)

  private def makeRoom(words: Int): Unit = {
    val needed = used + words
    if (needed > records.length) {
      val length = math.max(records.length * 2, needed)
      if (!reserve((length - records.length) * 8L)) full = true
      records = java.util.Arrays.copyOf(records, length)
    }
    if (needed > MostWords) full = true
    used = needed
  }

  private def grow(slots: RecordSlots): Unit = if (slots.isCrowded) {
    if (!reserve(slots.bytes)) full = true
    slots.grow()
  }

  private var giving = -1 // the slot of the key that is being given away
  private val key = new UnsafeRow(keyColumns)
  private val packed = new PackedFrames(bufferWords)

  /** Turns to the next key to give away; false when all have been, and rows can be taken again. */
  def next(): Boolean = {
    full = false
    giving = byKey.nextUsed(giving)
    if (giving < 0) clear()
    giving >= 0
  }

  private def clear(): Unit = {
    used = 0
    byFrame.clear()
    byKey.clear()
  }

  /** The columns of that key and its packed frames, good until the next. */
  def row: UnsafeRow = {
    val first = byKey.at(giving)
    key.pointTo(records, place(first + Header), keyWords(first) << 3)
    packed.begin(length(first))
    var record = first
    while (record >= 0) {
      packed.putBefore(records(record), records, bufferOf(record))
      record = rest(record)
    }
    joiner.join(key, packed.row)
  }

  private def length(first: Int): Int = {
    var count = 0
    var record = first
    while (record >= 0) {
      count += 1
      record = rest(record)
    }
    count
  }
}

private[exec] object PartialFrames {
  private val Header = 2 // words of a record before its key
  private val FirstWords = 1 << 13

  // More would not fit into the processor's caches any better, and memory is others' too.
  private val MostWords = 1 << 25

  val Golden = 0x9e3779b97f4a7c15L
  private val Odd = 0xd6e8feb86659fd93L

  private def place(word: Int): Long = Platform.LONG_ARRAY_OFFSET + word * 8L

  private def mix(number: Long): Long = (number ^ (number >>> 32)) * Odd

  def hash(key: UnsafeRow): Long = {
    val bytes = key.getBaseObject
    val offset = key.getBaseOffset
    val length = key.getSizeInBytes
    var hash = length.toLong
    var i = 0
    while (i < length) {
      hash = mix(hash ^ Platform.getLong(bytes, offset + i))
      i += 8
    }
    hash
  }
}
