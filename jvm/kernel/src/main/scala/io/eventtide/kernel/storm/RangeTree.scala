package io.eventtide.kernel.storm

import java.util.BitSet

import io.eventtide.kernel.window.Buffers

/** Aggregates over any rows of a key, without turning to each of them for each window.
  *
  *   - '''Guarantee:''' merges in the order of slots; a window of `n` rows costs `log n` merges for each
  *     run of slots that it is made of, and each row is taken once.
  *   - '''Restart:''' nothing to save.
  *   - '''Source:''' the segment tree.
  *
  * @param count how many slots there are
  * @param leaf a new buffer with the row of a slot
  */
final class RangeTree(buffers: Buffers, count: Int, leaf: Int => Int) {
  private val nodes = new Array[Int](2 * count)
  locally {
    var slot = 0
    while (slot < count) {
      nodes(count + slot) = leaf(slot)
      slot += 1
    }
    var node = count - 1
    while (node > 0) {
      nodes(node) = merged(nodes(2 * node), nodes(2 * node + 1))
      node -= 1
    }
  }

  private def merged(one: Int, two: Int): Int = {
    val into = buffers.copy(one)
    buffers.merge(into, two)
    into
  }

  /** Adds the slots of a range to a buffer. */
  def addTo(into: Int, from: Int, until: Int): Unit = {
    var (low, high) = (from + count, until + count)
    var after = List.empty[Int] // of the right edge, from the left on
    while (low < high) {
      if ((low & 1) == 1) {
        buffers.merge(into, nodes(low))
        low += 1
      }
      if ((high & 1) == 1) {
        high -= 1
        after = nodes(high) :: after
      }
      low >>= 1
      high >>= 1
    }
    after.foreach(buffers.merge(into, _))
  }

  /** A new buffer with all of these slots. */
  def of(slots: BitSet): Int = {
    val into = buffers.fresh()
    var from = slots.nextSetBit(0)
    while (from >= 0) {
      val until = slots.nextClearBit(from)
      addTo(into, from, until)
      from = slots.nextSetBit(until)
    }
    into
  }
}
