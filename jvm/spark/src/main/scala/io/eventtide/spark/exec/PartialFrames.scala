package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowJoiner
import org.apache.spark.unsafe.Platform

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
private[exec] final class PartialFrames(
    keyColumns: Int,
    empty: UnsafeRow,
    joiner: UnsafeRowJoiner,
    reserve: Long => Boolean
) {
  private val records = new FrameRecords(empty, reserve)
  private val byKey = new RecordSlots
  private val buffer = new UnsafeRow(empty.numFields)
  private var full = !reserve(byKey.bytes)

  def isFull: Boolean = full || records.isFull

  /** The buffer of a frame of a key, to be changed in place before the next one is asked for. */
  def buffer(key: UnsafeRow, frame: Long): UnsafeRow = {
    val hash = PartialFrames.hash(key)
    var slot = byKey.first(hash)
    var record = byKey.record(slot, hash)
    while (record != RecordSlots.Free && !(record >= 0 && records.isOf(record, key))) {
      slot = byKey.next(slot)
      record = byKey.record(slot, hash)
    }
    var at = if (record == RecordSlots.Free) -1 else records.find(record, frame)
    if (at < 0) {
      val before = record
      record = if (before == RecordSlots.Free) records.add(key) else records.withRoom(before)
      at = records.append(record, frame)
      if (record != before) put(slot, hash, record)
    }
    records.point(buffer, at)
    buffer
  }

  private def put(slot: Int, hash: Long, record: Int): Unit = {
    byKey.set(slot, hash, record)
    if (byKey.isCrowded) {
      if (!reserve(byKey.bytes)) full = true
      byKey.grow()
    }
  }

  private var giving = -1 // the slot of the key that is being given away
  private val key = new UnsafeRow(keyColumns)
  private val packed = new PackedFrames

  /** Turns to the next key to give away; false when all have been, and rows can be taken again. */
  def next(): Boolean = {
    full = false
    giving = byKey.nextUsed(giving)
    if (giving < 0) {
      records.clear()
      byKey.clear()
    }
    giving >= 0
  }

  /** The columns of that key and its packed frames, good until the next. */
  def row: UnsafeRow = {
    val record = byKey.at(giving)
    records.pointAtKey(key, record)
    joiner.join(key, records.pack(packed, record))
  }
}

private[exec] object PartialFrames {

  private def hash(key: UnsafeRow): Long = {
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

  /** Spreads what differs over the upper half. */
  def mix(number: Long): Long = (number ^ (number >>> 32)) * 0xd6e8feb86659fd93L
}
