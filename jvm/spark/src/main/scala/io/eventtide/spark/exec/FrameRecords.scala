package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Records of keys with their frames, in one array. A record is known by where it begins.
  *
  * {{{
  *   words of the key, room | frames | key | frame, buffer | frame, buffer | ... | index
  * }}}
  *
  * Frames are in the order in which they came. What is looked for is mostly among the last; records
  * with more frames have an index for the others, so that order never matters much.
  *
  * A record that is out of room is written again with twice as much, and its place is used again.
  *
  * @param empty
  *   a buffer that has taken nothing
  * @param reserve
  *   whether so many bytes more may be used
  */
private[exec] final class FrameRecords(empty: UnsafeRow, reserve: Long => Boolean) {
  import FrameRecords._

  private val bufferBytes = empty.getSizeInBytes
  private val slotWords = 1 + (bufferBytes >> 3)
  private var words = new Array[Long](FirstWords)
  private var used = 0
  private var full = !reserve(FirstWords * 8L)

  // By how much room they have, the last record that is not used any more; each knows the one before.
  private val unused = Array.fill(32)(None)

  def isFull: Boolean = full

  def clear(): Unit = {
    used = 0
    full = false
    java.util.Arrays.fill(unused, None)
  }

  // ---- what a record has

  private def keyWords(record: Int): Int = (words(record) >>> 32).toInt
  private def room(record: Int): Int = words(record).toInt
  private def count(record: Int): Int = words(record + 1).toInt
  private def slots(record: Int): Int = record + Header + keyWords(record)
  private def slot(record: Int, i: Int): Int = slots(record) + i * slotWords

  private def length(keyWords: Int, room: Int): Int =
    Header + keyWords + room * slotWords + (if (room > Near) room else 0)

  def isOf(record: Int, key: UnsafeRow): Boolean = {
    val length = keyWords(record)
    val bytes = key.getBaseObject
    val offset = key.getBaseOffset
    var same = length << 3 == key.getSizeInBytes
    var i = 0
    while (same && i < length) {
      same = words(record + Header + i) == Platform.getLong(bytes, offset + (i << 3))
      i += 1
    }
    same
  }

  /** Where a frame is; negative if the record does not have it. */
  def find(record: Int, frame: Long): Int = {
    val frames = count(record)
    val first = slots(record)
    val start = first + math.max(0, frames - Near) * slotWords
    var at = first + (frames - 1) * slotWords
    while (at >= start && words(at) != frame) at -= slotWords
    if (at >= start) at else if (frames <= Near) None else findFar(record, frame)
  }

  def point(buffer: UnsafeRow, at: Int): Unit = buffer.pointTo(words, place(at + 1), bufferBytes)

  def pointAtKey(key: UnsafeRow, record: Int): Unit =
    key.pointTo(words, place(record + Header), keyWords(record) << 3)

  def pack(into: PackedFrames, record: Int): UnsafeRow =
    into.row(words, slots(record), count(record) * slotWords)

  // ---- what is added

  /** A record for a key, with room for a frame. */
  def add(key: UnsafeRow): Int = {
    val record = begin(key.getSizeInBytes >> 3, FirstRoom)
    key.writeToMemory(words, place(record + Header))
    record
  }

  private def begin(keyWords: Int, room: Int): Int = {
    val record = take(keyWords, room)
    words(record) = keyWords.toLong << 32 | room
    words(record + 1) = 0
    record
  }

  /** The record with room for one frame more, which may be another one. */
  def withRoom(record: Int): Int =
    if (count(record) < room(record)) record
    else {
      val (keyWords, frames) = (this.keyWords(record), count(record))
      val larger = begin(keyWords, frames * 2)
      System.arraycopy(
        words,
        record + Header,
        words,
        larger + Header,
        keyWords + frames * slotWords
      )
      words(larger + 1) = frames.toLong
      giveUp(record)
      if (frames * 2 > Near) indexAll(larger)
      larger
    }

  /** Adds a frame that has taken nothing to a record that has room for it; answers where. */
  def append(record: Int, frame: Long): Int = {
    val i = count(record)
    val at = slot(record, i)
    words(at) = frame
    empty.writeToMemory(words, place(at + 1))
    words(record + 1) = i + 1L
    if (room(record) > Near) index(record, i)
    at
  }

  // ---- the index: for each frame the number of its slot, in half a word, by open addressing

  private def findFar(record: Int, frame: Long): Int = {
    var entry = firstEntry(record, frame)
    var found = entryAt(record, entry)
    while (found != 0 && words(slot(record, found - 1)) != frame) {
      entry = nextEntry(record, entry)
      found = entryAt(record, entry)
    }
    if (found == 0) None else slot(record, found - 1)
  }

  private def indexAll(record: Int): Unit = {
    val start = slot(record, room(record))
    java.util.Arrays.fill(words, start, start + room(record), 0L)
    var i = 0
    while (i < count(record)) {
      index(record, i)
      i += 1
    }
  }

  private def index(record: Int, i: Int): Unit = {
    var entry = firstEntry(record, words(slot(record, i)))
    while (entryAt(record, entry) != 0) entry = nextEntry(record, entry)
    Platform.putInt(words, placeOf(record, entry), i + 1)
  }

  private def entryAt(record: Int, entry: Int): Int =
    Platform.getInt(words, placeOf(record, entry))

  private def placeOf(record: Int, entry: Int): Long =
    place(slot(record, room(record))) + entry * 4L

  private def firstEntry(record: Int, frame: Long): Int =
    (PartialFrames.mix(frame) >>> 32).toInt & (room(record) * 2 - 1)

  private def nextEntry(record: Int, entry: Int): Int = (entry + 1) & (room(record) * 2 - 1)

  // ---- places

  private def giveUp(record: Int): Unit = {
    val size = Integer.numberOfTrailingZeros(room(record))
    words(record + 1) = unused(size)
    unused(size) = record
  }

  private def take(keyWords: Int, room: Int): Int = {
    val size = Integer.numberOfTrailingZeros(room)
    val again = unused(size)
    if (again != None && this.keyWords(again) == keyWords) {
      unused(size) = words(again + 1).toInt
      again
    } else takeNew(length(keyWords, room))
  }

  private def takeNew(length: Int): Int = {
    val record = used
    val needed = used + length
    if (needed > words.length) {
      val all = math.max(words.length * 2, needed)
      if (!reserve((all - words.length) * 8L)) full = true
      words = java.util.Arrays.copyOf(words, all)
    }
    if (needed > MostWords) full = true
    used = needed
    record
  }
}

private object FrameRecords {
  private val Header = 2 // words before the key
  private val FirstRoom = 2 // frames; a power of two
  private val Near = 8 // so many frames are looked through one by one; a power of two
  private val None = -1

  private val FirstWords = 1 << 13
  private val MostWords = 1 << 25 // others need memory too

  private def place(word: Int): Long = Platform.LONG_ARRAY_OFFSET + word * 8L
}
