package io.eventtide.kernel.watermark

import java.util.Arrays

/** Rows that cannot move what is emitted, noted in a few numbers until someone looks.
  *
  * A row below its substream's `wake` changes only a maximum and a count, and most rows not even
  * the maximum. What such a row reads and writes lies side by side, so that it costs one or two
  * cache lines and calls nobody.
  *
  *   - '''Guarantee:''' the order of the rows does not matter to whom they are told later; allocates
  *     only in `reach`.
  *   - '''Units:''' times are event times, `last` is a clock value.
  *   - '''Edges:''' an index starts with `Long.MinValue` as its `wake`: no row is noted. So it is
  *     with one that is not in use, and who is told of its row refuses it. There is room from the first
  *     `reach` on: who tells rows by batches needs none.
  *   - '''Restart:''' nothing to save: rows are told before their substream is read.
  */
private[watermark] final class DeferredUpdates {
  import DeferredUpdates._

  private var cells = new Array[Long](0)
  private var wakes = new Array[Long](0)
  private var tops = new Array[Long](0)

  /** Notes a row, unless it is at its substream's `wake` or above and has to be told at once. */
  def note(now: Long, index: Int, ts: Long): Boolean = {
    val cell = index * Width
    val noted = ts < cells(cell + Calm) || rise(index, ts)
    if (noted) {
      cells(cell + Rows) += 1
      cells(cell + Last) = now
    }
    noted
  }

  /** The lowest event time that is not noted. */
  def wake(index: Int, ts: Long): Unit = {
    wakes(index) = ts
    calm(index)
  }

  /** How many rows are noted; read the other two only when there is one. */
  def count(index: Int): Long = if (index < wakes.length) cells(index * Width + Rows) else 0

  def top(index: Int): Long = tops(index)

  def last(index: Int): Long = cells(index * Width + Last)

  /** The rows were told. */
  def told(index: Int): Unit = {
    cells(index * Width + Rows) = 0
    tops(index) = Long.MinValue
    calm(index)
  }

  /** Makes room for so many substreams. */
  def reach(capacity: Int): Unit = if (capacity > wakes.length) {
    val before = wakes.length
    cells = Arrays.copyOf(cells, capacity * Width)
    wakes = Arrays.copyOf(wakes, capacity)
    tops = Arrays.copyOf(tops, capacity)
    (before until capacity).foreach(begin)
  }

  /** Begins a new substream. */
  def begin(index: Int): Unit = if (wakes.length > 0) {
    if (index >= wakes.length) reach(index * 2)
    wakes(index) = Long.MinValue
    told(index)
  }

  /** Takes one out of `used`, which shifts the higher indexes down by one. */
  def remove(index: Int, used: Int): Unit = if (wakes.length > 0) {
    shift(cells, index * Width, Width, used * Width)
    shift(wakes, index, 1, used)
    shift(tops, index, 1, used)
    begin(used - 1)
  }

  private def rise(index: Int, ts: Long): Boolean = {
    val noted = ts < wakes(index)
    if (noted) { tops(index) = Math.max(tops(index), ts); calm(index) }
    noted
  }

  private def calm(index: Int): Unit =
    cells(index * Width + Calm) = Math.min(tops(index), wakes(index))

  private def shift(array: Array[Long], at: Int, by: Int, used: Int): Unit =
    System.arraycopy(array, at + by, array, at, used - at - by)
}

private object DeferredUpdates {
  // what lies where in the cells of one substream
  final val Calm = 0 // a time below this is no new maximum, and below `wake`
  final val Rows = 1
  final val Last = 2
  final val Width = 3
}
