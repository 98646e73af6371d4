package io.eventtide.kernel.window

import io.eventtide.kernel.RecordTooLarge

/** A growing byte array that records are written to; it is reused for the next record.
  *
  *   - '''Units:''' numbers are written as variable-length integers, small numbers in one byte.
  *   - '''Edges:''' throws `RecordTooLarge` if more than `limit` bytes are needed.
  */
final class ByteSink(initial: Int = 256, limit: Int = ByteSink.Longest) {
  private var array = new Array[Byte](initial)
  private var end = 0

  def bytes: Array[Byte] = array
  def position: Int = end

  /** Restarts at position `at`; the bytes before it belong to the caller. */
  def reset(at: Int): Unit = {
    end = at
    ensure(0)
  }

  def putByte(value: Int): Unit = {
    ensure(1)
    array(end) = value.toByte
    end += 1
  }

  /** Writes a number of zero or more, seven bits per byte. */
  def putCount(value: Long): Unit = {
    var rest = value
    while ((rest & ~0x7fL) != 0) {
      putByte((rest & 0x7f | 0x80).toInt)
      rest >>>= 7
    }
    putByte(rest.toInt)
  }

  /** Writes any number; numbers near zero are short (zigzag encoding). */
  def putNumber(value: Long): Unit = putCount((value << 1) ^ (value >> 63))

  /** As `putNumber`, in `length` bytes; if these do not suffice, in a multiple of eight more. */
  def putNumber(value: Long, length: Int): Unit = {
    var rest = (value << 1) ^ (value >> 63)
    val needed = (70 - java.lang.Long.numberOfLeadingZeros(rest | 1)) / 7
    val more = math.max(0, needed - length + 7) & ~7
    for (_ <- 1 until length + more) {
      putByte((rest & 0x7f | 0x80).toInt)
      rest >>>= 7
    }
    putByte(rest.toInt)
  }

  /** Pads with zeros to a multiple of eight bytes. */
  def align(): Unit = while ((end & 7) != 0) putByte(0)

  /** Reserves `length` bytes that the caller fills; returns their position. */
  def reserve(length: Int): Int = {
    ensure(length)
    val at = end
    end += length
    at
  }

  /** Releases the bytes reserved from `at` on. */
  def leave(at: Int): Unit = end = at

  private def ensure(more: Int): Unit = {
    val needed = end.toLong + more
    if (needed > array.length) grow(needed)
  }

  private def grow(needed: Long): Unit = {
    if (needed > limit) throw new RecordTooLarge(limit)
    val length = math.min(limit.toLong, math.max(needed, array.length * 2L))
    array = java.util.Arrays.copyOf(array, length.toInt)
  }
}

object ByteSink {

  /** The length of the longest array that every JVM can allocate, in whole words. */
  private val Longest = Int.MaxValue - 15
}

/** Reads bytes that a `ByteSink` wrote from a multiple of eight on. */
final class ByteSource {
  private var array: Array[Byte] = Array.emptyByteArray
  private var first = 0
  private var at = 0

  def bytes: Array[Byte] = array
  def position: Int = at

  def reset(bytes: Array[Byte], start: Int): Unit = {
    array = bytes
    first = start
    at = start
  }

  def getByte(): Int = {
    at += 1
    array(at - 1) & 0xff
  }

  def getCount(): Long = {
    var value = 0L
    var shift = 0
    var next = getByte()
    while (next >= 0x80) {
      value |= (next & 0x7fL) << shift
      shift += 7
      next = getByte()
    }
    value | next.toLong << shift
  }

  def getNumber(): Long = {
    val value = getCount()
    (value >>> 1) ^ -(value & 1)
  }

  /** Skips the padding of `ByteSink.align`, wherever the record starts in the array. */
  def align(): Unit = at = first + ((at - first + 7) & ~7)

  /** Skips `length` bytes; returns their position. */
  def skip(length: Int): Int = {
    at += length
    at - length
  }
}
