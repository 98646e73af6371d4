package io.eventtide.kernel.rowwindow

import java.util.Arrays

/** A stable sort by time: rows with equal times stay in order of arrival.
  *
  *   - '''Units:''' any; the times may be anywhere in the range of longs.
  */
private[rowwindow] object TimeOrder {

  /** The positions of the first `count` times, by ascending time. */
  def of(times: Array[Long], count: Int): Array[Int] = {
    val least = lowest(times, count)
    val bits = Integer.SIZE - Integer.numberOfLeadingZeros(count) // of a position
    if (isAscending(times, count)) Array.range(0, count)
    else if (fits(times, count, least, java.lang.Long.SIZE - 1 - bits))
      packed(times, count, least, bits)
    else Array.range(0, count).sortBy(times(_)) // stable too, but boxes its numbers
  }

  private def lowest(times: Array[Long], count: Int): Long = {
    var least = Long.MaxValue
    var at = 0
    while (at < count) {
      least = math.min(least, times(at))
      at += 1
    }
    least
  }

  private def isAscending(times: Array[Long], count: Int): Boolean = {
    var at = 1
    while (at < count && times(at - 1) <= times(at)) at += 1
    at >= count
  }

  /** Whether the distance of each time from the least has no more than `bits` bits. */
  private def fits(times: Array[Long], count: Int, least: Long, bits: Int): Boolean = {
    var all = 0L
    var at = 0
    while (at < count) {
      all |= times(at) - least // of more than 63 bits if it is negative
      at += 1
    }
    all >>> bits == 0
  }

  /** Sorts numbers with the time above the position, so that no comparison reads an array twice. */
  private def packed(times: Array[Long], count: Int, least: Long, bits: Int): Array[Int] = {
    val numbers = new Array[Long](count)
    var at = 0
    while (at < count) {
      numbers(at) = (times(at) - least) << bits | at
      at += 1
    }
    if (!insert(numbers)) Arrays.sort(numbers)
    val mask = (1L << bits) - 1
    val order = new Array[Int](count)
    at = 0
    while (at < count) {
      order(at) = (numbers(at) & mask).toInt
      at += 1
    }
    order
  }

  private val MovesOfEach = 16

  /** Sorts by insertion, the fastest way for rows that are little out of order; false if it would
    * move too many numbers.
    */
  private def insert(numbers: Array[Long]): Boolean = {
    var moves = MovesOfEach.toLong * numbers.length
    var at = 1
    while (at < numbers.length && moves >= 0) {
      val number = numbers(at)
      var before = at - 1
      while (before >= 0 && numbers(before) > number) {
        numbers(before + 1) = numbers(before)
        before -= 1
      }
      numbers(before + 1) = number
      moves -= at - 1 - before
      at += 1
    }
    moves >= 0
  }
}
