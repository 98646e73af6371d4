package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowJoiner
import org.apache.spark.unsafe.Platform

import io.eventtide.spark.operators.Hashing

/** Aggregation buffers by key and frame; those of a key lie side by side, and are given together.
  *
  * With many keys nearly every row is at another place of memory. So there is one record to find for
  * a row, and it is found by one entry of a hash table.
  *
  * When it may have no more memory it is full. It takes rows all the same, so that nobody has to ask
  * before each, and is to be given away as soon as it can be.
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
private[preagg] final class FrameHashMap(
    keyColumns: Int,
    empty: UnsafeRow,
    joiner: UnsafeRowJoiner,
    reserve: Long => Boolean
) {
  private val records = new FrameArena(empty, reserve)
  private val byKey = new RecordHashIndex(reserve)
  private val buffer = new UnsafeRow(empty.numFields)

  def isFull: Boolean = byKey.isFull || records.isFull

  /** How many keys there are. */
  def keyCount: Int = byKey.size

  /** Whether there are so many keys that the processor has to fetch nearly each from memory. */
  def isWide: Boolean = keyCount > FrameHashMap.Wide

  private val found = new Array[Int](PrefetchBatchCodegen.Most)
  private var fetched = 0L // so that the compiler leaves in what is only looked at

  /** Has the processor fetch what `buffer` will look at for so many keys, each of one column without
    * null, and their frames.
    */
  def fetch(keys: Array[Long], frames: Array[Long], count: Int): Unit = {
    var seen = 0L
    var i = 0
    while (i < count) {
      val hash = FrameHashMap.hash(keys(i))
      found(i) = byKey.record(byKey.first(hash), hash)
      i += 1
    }
    i = 0
    while (i < count) {
      if (found(i) >= 0) seen += records.seeKey(found(i))
      i += 1
    }
    i = 0
    while (i < count) {
      if (found(i) >= 0) seen += records.seeFrame(found(i), frames(i))
      i += 1
    }
    fetched += seen
  }

  /** The buffer of a frame of a key, to be changed in place before the next one is asked for. */
  def buffer(key: UnsafeRow, frame: Long): UnsafeRow = {
    val hash = FrameHashMap.hash(key)
    var slot = byKey.first(hash)
    var record = byKey.record(slot, hash)
    while (record != RecordHashIndex.Free && !(record >= 0 && records.isOf(record, key))) {
      slot = byKey.next(slot)
      record = byKey.record(slot, hash)
    }
    if (record == RecordHashIndex.Free) {
      record = records.add(key)
      byKey.add(slot, hash, record)
    }
    pointed(slot, hash, record, frame)
  }

  /** As `buffer`, for a key of one column without null, as the word that a row has for it. Written out
    * again, so that no row makes a virtual call.
    */
  def buffer(key: Long, frame: Long): UnsafeRow = {
    val hash = FrameHashMap.hash(key)
    var slot = byKey.first(hash)
    var record = byKey.record(slot, hash)
    while (record != RecordHashIndex.Free && !(record >= 0 && records.isOf(record, key))) {
      slot = byKey.next(slot)
      record = byKey.record(slot, hash)
    }
    if (record == RecordHashIndex.Free) {
      record = records.add(key)
      byKey.add(slot, hash, record)
    }
    pointed(slot, hash, record, frame)
  }

  /** As `buffer`, for a key of one column that is null. */
  def bufferOfNull(frame: Long): UnsafeRow = buffer(FrameHashMap.NullKey, frame)

  // The slot is still the record's: one that is new has room, and one that is not was not put there.
  private def pointed(slot: Int, hash: Long, found: Int, frame: Long): UnsafeRow = {
    var at = records.find(found, frame)
    if (at < 0) {
      val record = records.withRoom(found)
      at = records.append(record, frame)
      if (record != found) byKey.set(slot, hash, record)
    }
    records.point(buffer, at)
    buffer
  }

  private var giving = RecordHashIndex.Free // the record that is being given away
  private val key = new UnsafeRow(keyColumns)
  private val packed = new PackedFrames

  /** Turns to the next key to give away; false when all have been, and rows can be taken again. */
  def next(): Boolean = {
    giving = records.next(giving)
    if (giving == RecordHashIndex.Free) {
      records.clear()
      byKey.clear()
    }
    giving != RecordHashIndex.Free
  }

  /** The columns of that key and its packed frames, good until the next. */
  def row: UnsafeRow = {
    records.pointAtKey(key, giving)
    joiner.join(key, records.pack(packed, giving))
  }
}

private[preagg] object FrameHashMap {

  private def hash(key: UnsafeRow): Long = {
    val bytes = key.getBaseObject
    val offset = key.getBaseOffset
    val length = key.getSizeInBytes
    var hash = length.toLong
    var i = 0
    while (i < length) {
      hash = Hashing.mix(hash ^ Platform.getLong(bytes, offset + i))
      i += 8
    }
    hash
  }

  /** The hash of a row of one column without null. */
  private def hash(key: Long): Long = Hashing.mix(OneColumn ^ key)

  private val OneColumn = Hashing.mix(16L)

  private val NullKey: UnsafeRow = {
    val row = UnsafeRow.createFromByteArray(16, 1)
    row.setNullAt(0)
    row
  }

  private val Wide = 1 << 14
}
