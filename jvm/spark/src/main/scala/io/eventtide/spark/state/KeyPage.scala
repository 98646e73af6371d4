package io.eventtide.spark.state

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** The states of some keys, as one record; see `KeyPages`.
  *
  * An entry has the number of words of the key's row, the lengths of key and state, the words
  * without their zero bytes, and the state. A key without a state in the page has it in a record of
  * its own.
  */
private[state] final class KeyPage(keyColumns: Int) {
  private var entries = new ByteSink(1 << 12) // some of them may be replaced
  private var spare = new ByteSink(1 << 12)
  private var places = new Array[Int](16 * KeyPage.Numbers)
  private var count = 0
  private var replaced = 0 // bytes of replaced entries
  private var last = 0 // the entry that was found last

  private val source = new ByteSource
  private val values = new BinaryRow
  private val states = new BinaryRow
  private val wanted = new ByteSink(64) // the words of the key that is looked for
  private var key = new Array[Byte](64)
  private val keyRow = new UnsafeRow(keyColumns)

  private def start(i: Int): Int = places(i * KeyPage.Numbers)
  private def keyStart(i: Int): Int = places(i * KeyPage.Numbers + 1)
  private def stateStart(i: Int): Int = places(i * KeyPage.Numbers + 2)
  private def end(i: Int): Int = places(i * KeyPage.Numbers + 3)

  def size: Int = count

  def clear(): Unit = {
    count = 0
    replaced = 0
    entries.reset(0)
  }

  /** Replaces all entries by the entries of a record. */
  def read(record: UnsafeRow): Unit = {
    clear()
    BinaryRow.open(record, source)
    val length = BinaryRow.length(record)
    val at = entries.reserve(length)
    System.arraycopy(source.bytes, source.position, entries.bytes, at, length)
    source.reset(entries.bytes, 0)
    while (source.position < length) {
      place(count, source.position)
      count += 1
    }
  }

  /** Records the places of the entry at a position of the bytes, and moves to its end. */
  private def place(i: Int, at: Int): Unit = {
    if ((i + 1) * KeyPage.Numbers > places.length) places = Arrays.copyOf(places, places.length * 2)
    source.reset(entries.bytes, at)
    source.getCount(): Unit
    val (keyLength, stateLength) = (source.getCount().toInt, source.getCount().toInt)
    val first = i * KeyPage.Numbers
    places(first) = at
    places(first + 1) = source.skip(keyLength)
    places(first + 2) = source.skip(stateLength)
    places(first + 3) = source.position
  }

  /** The entries as a record, valid until the next call. */
  def write(): UnsafeRow = {
    val out = values.begin()
    var i = 0
    while (i < count) {
      copy(i, out)
      i += 1
    }
    values.end()
  }

  private def copy(i: Int, out: ByteSink): Int = {
    val length = end(i) - start(i)
    val at = out.reserve(length)
    System.arraycopy(entries.bytes, start(i), out.bytes, at, length)
    at
  }

  /** The position of a key; -1 if the page does not have it. */
  def find(of: UnsafeRow): Int = {
    wanted.reset(0)
    CompressedWords.write(of.getBaseObject, of.getBaseOffset, of.getSizeInBytes >> 3, wanted)
    if (last < count && isWanted(last)) last
    else {
      var i = count - 1
      while (i >= 0 && !isWanted(i)) i -= 1
      if (i >= 0) last = i
      i
    }
  }

  private def isWanted(i: Int): Boolean =
    Arrays.equals(entries.bytes, keyStart(i), stateStart(i), wanted.bytes, 0, wanted.position)

  /** The key at a position, valid until the next call. */
  def keyAt(i: Int): UnsafeRow = {
    source.reset(entries.bytes, start(i))
    val words = source.getCount().toInt
    if (key.length < words * 8) key = new Array[Byte](words * 16)
    source.reset(entries.bytes, keyStart(i))
    CompressedWords.read(source, key, Platform.BYTE_ARRAY_OFFSET.toLong, words)
    keyRow.pointTo(key, words * 8)
    keyRow
  }

  /** Whether the state of the key is not in the page. */
  def isAlone(i: Int): Boolean = stateStart(i) == end(i)

  /** The state at a position, valid until the next call. */
  def stateAt(i: Int): UnsafeRow = {
    val out = states.begin()
    val length = end(i) - stateStart(i)
    val at = out.reserve(length)
    System.arraycopy(entries.bytes, stateStart(i), out.bytes, at, length)
    states.end()
  }

  /** Adds a key, or replaces its state.
    *
    * @param state
    *   the state, which is not empty; null if it is not in the page
    */
  def put(of: UnsafeRow, state: UnsafeRow): Unit = {
    val i = find(of)
    if (i >= 0) replaced += end(i) - start(i)
    val at = entries.position
    entries.putCount(of.getSizeInBytes >> 3)
    entries.putCount(wanted.position)
    entries.putCount(if (state == null) 0 else BinaryRow.length(state))
    append(wanted.bytes, 0, wanted.position)
    if (state != null) {
      BinaryRow.open(state, source)
      append(source.bytes, source.position, BinaryRow.length(state))
    }
    place(if (i < 0) count else i, at)
    if (i < 0) {
      last = count
      count += 1
    } else if (replaced > KeyPage.Spare + entries.position / 2) compact()
  }

  private def append(bytes: Array[Byte], from: Int, length: Int): Unit = {
    val at = entries.reserve(length)
    System.arraycopy(bytes, from, entries.bytes, at, length)
  }

  /** Drops replaced entries. */
  private def compact(): Unit = {
    spare.reset(0)
    val whole = entries
    for (i <- 0 until count) copy(i, spare): Unit
    entries = spare
    spare = whole
    replaced = 0
    var at = 0
    for (i <- 0 until count) {
      place(i, at)
      at = end(i)
    }
  }

  def remove(i: Int): Unit = {
    count -= 1
    val first = i * KeyPage.Numbers
    System.arraycopy(places, first + KeyPage.Numbers, places, first, (count - i) * KeyPage.Numbers)
  }
}

private object KeyPage {
  private val Numbers = 4 // of each entry: its start, those of key and state, its end
  private val Spare = 1 << 12 // bytes of replaced entries that are not worth a copy
}
