package io.eventtide.kernel.rowwindow

import java.util.BitSet

import io.eventtide.kernel.window.Buffers

/** Aggregates over any set of rows of a key, without reading each row again for each window.
  *
  *   - '''Guarantee:''' merges in slot order; no partial aggregate has more rows than some window.
  *     A window of `n` rows costs `log n` merges for each of its runs of consecutive slots, once
  *     the partial aggregates are computed. Each row is read once.
  *   - '''Restart:''' nothing to save.
  *   - '''Source:''' the segment tree.
  *
  * @param count number of slots
  * @param leaf factory of a new buffer with the row of a slot
  */
final class SegmentTree(buffers: Buffers, count: Int, leaf: Int => Int) {
  private val nodes = Array.fill(2 * count)(SegmentTree.Unknown)

  private def node(at: Int): Int = {
    if (nodes(at) == SegmentTree.Unknown) {
      nodes(at) =
        if (at >= count) leaf(at - count)
        else {
          val into = buffers.copy(node(2 * at))
          buffers.merge(into, node(2 * at + 1))
          into
        }
    }
    nodes(at)
  }

  /** Merges the slots in `[from, until)` into a buffer. */
  private def addTo(into: Int, from: Int, until: Int): Unit = {
    var (low, high) = (from + count, until + count)
    var after = List.empty[Int] // nodes of the right edge, from left to right
    while (low < high) {
      if ((low & 1) == 1) {
        buffers.merge(into, node(low))
        low += 1
      }
      if ((high & 1) == 1) {
        high -= 1
        after = high :: after
      }
      low >>= 1
      high >>= 1
    }
    after.foreach(at => buffers.merge(into, node(at)))
  }

  /** A new buffer with the rows of all these slots. */
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

private object SegmentTree {
  private val Unknown = -1
}
