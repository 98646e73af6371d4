package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.eventtide.spark.operators.Hashing

/** Records of keys with some of their frames, in one array. A record is identified by its offset.
  *
  * {{{
  *   words of the key, room | older record, frames | frames of older ones | last frame
  *   key | frame, buffer | frame, buffer | ... | index
  * }}}
  *
  * A full record is followed by a newer record for the same key. So frames that all keys use at the
  * same time are near each other.
  *
  * Frames are stored in arrival order, which is mostly frame order. So a frame is at the slot that
  * it would have without gaps, or near it. Longer records also have an index. Records grow with the
  * number of frames of the key. So a key has few records, and the arrival order has little effect.
  *
  * @param empty
  *   a buffer with the initial values
  * @param reserve
  *   reserves this number of bytes; false if they are not available
  */
private[preagg] final class FrameArena(empty: UnsafeRow, reserve: Long => Boolean) {
  import FrameArena._

  private val bufferBytes = empty.getSizeInBytes
  private val slotWords = 1 + (bufferBytes >> 3)
  private var words = new Array[Long](FirstWords)
  private var granted = FirstWords // words that may be retained
  private var used = 0
  private var full = !reserve(FirstWords * 8L)

  def isFull: Boolean = full

  def clear(): Unit = {
    if (words.length > granted) words = new Array[Long](granted)
    used = 0
    full = false
  }

  // ---- reading a record

  private def keyWords(record: Int): Int = (words(record) >>> 32).toInt
  private def room(record: Int): Int = (words(record) & ~HasNewer).toInt
  private def older(record: Int): Int = (words(record + 1) >> 32).toInt
  private def count(record: Int): Int = words(record + 1).toInt
  private def countBefore(record: Int): Int = words(record + 2).toInt
  private def lastFrame(record: Int): Long = words(record + 3)
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

  /** As `isOf`, for a non-null key of one column, given as its word. */
  def isOf(record: Int, key: Long): Boolean =
    words(record + Header + 1) == key && words(record + Header) == 0 && keyWords(record) == 2

  /** The offset of a frame in this record or an older one of the key; `None` if it does not exist.
    */
  def find(newest: Int, frame: Long): Int = {
    var record = newest
    var at = findIn(record, frame)
    while (at == None && older(record) != None) {
      record = older(record)
      at = findIn(record, frame)
    }
    at
  }

  private def findIn(record: Int, frame: Long): Int = {
    val at = guess(record, frame)
    if (at != None && words(at) == frame) at
    else if (room(record) > Near) findFar(record, frame)
    else findNear(record, frame)
  }

  /** The offset of a frame if there are no gaps between it and the last frame; `None` if it cannot
    * be in this record.
    */
  private def guess(record: Int, frame: Long): Int = {
    val i = count(record) - 1 - (lastFrame(record) - frame)
    if (i >= 0 && i < count(record)) slot(record, i.toInt) else None
  }

  private def findNear(record: Int, frame: Long): Int = {
    val start = slots(record)
    var at = start + (count(record) - 1) * slotWords
    while (at >= start && words(at) != frame) at -= slotWords
    if (at >= start) at else None
  }

  /** Reads the words that identify a record's key, to prefetch them. */
  def seeKey(record: Int): Long = words(record) + words(record + Header + 1)

  /** Reads the word where a frame is expected, to prefetch it. */
  def seeFrame(record: Int, frame: Long): Long = {
    val at = guess(record, frame)
    if (at != None) words(at) else 0L
  }

  def point(buffer: UnsafeRow, at: Int): Unit = buffer.pointTo(words, place(at + 1), bufferBytes)

  // ---- adding to a record

  /** Adds a record for a key, with room for a frame. */
  def add(key: UnsafeRow): Int = {
    val record = begin(key.getSizeInBytes >> 3, FirstRoom)
    key.writeToMemory(words, place(record + Header))
    record
  }

  /** As `add`, for a non-null key of one column, given as its word. */
  def add(key: Long): Int = {
    val record = begin(2, FirstRoom)
    words(record + Header) = 0
    words(record + Header + 1) = key
    record
  }

  private def begin(keyWords: Int, room: Int): Int = {
    val record = take(length(keyWords, room))
    words(record) = keyWords.toLong << 32 | room
    words(record + 1) = None.toLong << 32
    words(record + 2) = 0
    if (room > Near) clearIndex(record)
    record
  }

  /** Returns a record of the same key with room for one more frame, which may be a new record. */
  def withRoom(record: Int): Int =
    if (count(record) < room(record)) record
    else {
      val frames = countBefore(record) + count(record)
      val room = if (frames < Many) Near else Integer.highestOneBit(frames)
      val newer = begin(keyWords(record), room)
      System.arraycopy(words, record + Header, words, newer + Header, keyWords(record))
      words(newer + 1) = record.toLong << 32
      words(newer + 2) = frames.toLong
      words(record) |= HasNewer
      newer
    }

  /** Adds a frame with an empty buffer to a record that has room for it; returns the frame's
    * offset.
    */
  def append(record: Int, frame: Long): Int = {
    val i = count(record)
    val at = slot(record, i)
    words(at) = frame
    empty.writeToMemory(words, place(at + 1))
    words(record + 1) += 1
    words(record + 3) = frame
    if (room(record) > Near) index(record, i)
    at
  }

  private def take(length: Int): Int = {
    val record = used
    val needed = used + length
    if (needed > words.length) grow(needed)
    if (needed > MostWords) full = true
    used = needed
    record
  }

  private def grow(needed: Int): Unit = {
    val wanted = math.max(words.length * 2, needed)
    val mayGrow = wanted <= AllWords && reserve((wanted - granted) * 8L)
    if (mayGrow) granted = wanted else full = true
    val all = if (mayGrow) wanted else math.max(words.length + words.length / 8, needed)
    words = java.util.Arrays.copyOf(words, all)
  }

  // ---- the index: the slot number of each frame, in half a word, by open addressing

  private def findFar(record: Int, frame: Long): Int = {
    var entry = firstEntry(record, frame)
    var found = entryAt(record, entry)
    while (found != 0 && words(slot(record, found - 1)) != frame) {
      entry = nextEntry(record, entry)
      found = entryAt(record, entry)
    }
    if (found == 0) None else slot(record, found - 1)
  }

  private def index(record: Int, i: Int): Unit = {
    var entry = firstEntry(record, words(slot(record, i)))
    while (entryAt(record, entry) != 0) entry = nextEntry(record, entry)
    Platform.putInt(words, placeOf(record, entry), i + 1)
  }

  private def clearIndex(record: Int): Unit = {
    val start = slot(record, room(record))
    java.util.Arrays.fill(words, start, start + room(record), 0L)
  }

  private def entryAt(record: Int, entry: Int): Int =
    Platform.getInt(words, placeOf(record, entry))

  private def placeOf(record: Int, entry: Int): Long =
    place(slot(record, room(record))) + entry * 4L

  private def firstEntry(record: Int, frame: Long): Int =
    (Hashing.mix(frame) >>> 32).toInt & (room(record) * 2 - 1)

  private def nextEntry(record: Int, entry: Int): Int = (entry + 1) & (room(record) * 2 - 1)

  // ---- emitting records

  /** The newest record of the next key, or of the first key after `None`; `None` at the end. */
  def next(record: Int): Int = {
    var at = if (record == None) 0 else after(record)
    while (at < used && (words(at) & HasNewer) != 0) at = after(at)
    if (at < used) at else None
  }

  private def after(record: Int): Int = record + length(keyWords(record), room(record))

  def pointAtKey(key: UnsafeRow, record: Int): Unit =
    key.pointTo(words, place(record + Header), keyWords(record) << 3)

  /** Packs all frames of the key with this newest record. */
  def pack(into: PackedFramesWriter, newest: Int): UnsafeRow = {
    into.begin((countBefore(newest) + count(newest)) * slotWords)
    var record = newest
    while (record != None) {
      into.putBefore(words, slots(record), count(record) * slotWords)
      record = older(record)
    }
    into.row
  }
}

private object FrameArena {
  private val Header = 4 // words before the key
  private val None = -1

  private val FirstRoom = 4 // frames
  private val Near = 8 // up to this number of frames, a record is searched linearly
  private val Many = 64 // frames of a key from which its new records double in size; a power of two
  private val HasNewer = 1L << 31

  private val FirstWords = 1 << 13
  private val AllWords = 1 << 24 // 128 MB, since other operators need memory too
  private val MostWords = AllWords - (AllWords >> 6) // rows still arrive when full

  private def place(word: Int): Long = Platform.LONG_ARRAY_OFFSET + word * 8L
}
