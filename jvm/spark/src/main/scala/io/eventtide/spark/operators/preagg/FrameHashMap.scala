package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowJoiner
import org.apache.spark.unsafe.Platform

import io.eventtide.spark.operators.Hashing

/** Aggregation buffers by key and frame; the buffers of a key are adjacent in memory and are
  * emitted together.
  *
  * With many keys, nearly every row accesses a different part of memory. So a row needs only one
  * record, which is found by one entry of a hash table.
  *
  * The map is full when it cannot reserve more memory. A full map still accepts rows, so that
  * callers need no check before each row; they emit it as soon as possible.
  *
  * @param keyColumns
  *   the number of key columns
  * @param empty
  *   a buffer with the initial values
  * @param joiner
  *   joins a key and its packed frames
  * @param reserve
  *   reserves this number of bytes; false if they are not available
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

  /** The number of keys. */
  def keyCount: Int = byKey.size

  /** Whether nearly every access misses the CPU cache, because of the number of keys. */
  def isWide: Boolean = keyCount > FrameHashMap.Wide

  private val found = new Array[Int](PrefetchBatchCodegen.Most)
  private var fetched = 0L // keeps the compiler from removing the reads

  /** Prefetches the memory that `buffer` will read for `count` keys and their frames. The keys are
    * non-null and have one column each.
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

  /** The buffer of a frame of a key, to be updated in place before the next call. */
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

  /** As `buffer`, for a non-null key of one column, given as its word in a row. The code is
    * repeated, so that no row needs a virtual call.
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

  /** As `buffer`, for a null key of one column. */
  def nullKeyBuffer(frame: Long): UnsafeRow = buffer(FrameHashMap.NullColumn, frame)

  // The slot is still the record's: a new record has room, and an old one was not added to the
  // table.
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

  private var emitted = RecordHashIndex.Free // the record that is being emitted
  private val key = new UnsafeRow(keyColumns)
  private val packed = new PackedFramesWriter

  /** Advances to the next key to emit; false at the end, when the map is cleared and accepts rows
    * again.
    */
  def next(): Boolean = {
    emitted = records.next(emitted)
    if (emitted == RecordHashIndex.Free) {
      records.clear()
      byKey.clear()
    }
    emitted != RecordHashIndex.Free
  }

  /** The columns of the current key and its packed frames, valid until the next call. */
  def row: UnsafeRow = {
    records.pointAtKey(key, emitted)
    joiner.join(key, records.pack(packed, emitted))
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

  /** The hash of a row with one non-null column. */
  private def hash(key: Long): Long = Hashing.mix(OneColumn ^ key)

  private val OneColumn = Hashing.mix(16L)

  /** A row with one column, which is null. */
  val NullColumn: UnsafeRow = {
    val row = UnsafeRow.createFromByteArray(16, 1)
    row.setNullAt(0)
    row
  }

  private val Wide = 1 << 14
}
