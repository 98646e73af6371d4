package io.eventtide.kernel.watermark

import java.util.Arrays

/** Defers rows that cannot move the emitted watermark, as a few numbers per substream.
  *
  * A row below its substream's `wake` changes only a maximum and a count, and most rows not even
  * the maximum. The fields of a substream are adjacent in memory, so such a row touches one or two
  * cache lines and calls no other object.
  *
  *   - '''Guarantee:''' the order of deferred rows does not matter when they are applied; allocates
  *     only in `reach`.
  *   - '''Units:''' times are event times, `last` is a clock value.
  *   - '''Edges:''' an index starts with `Long.MinValue` as its `wake`, so no row is deferred. The
  *     same holds for an unused index: the caller applies its row at once and rejects it. There is
  *     room from the first `reach` on; batches do not need any.
  *   - '''Restart:''' nothing to save: deferred rows are applied before their substream is read.
  */
private[watermark] final class DeferredUpdates {
  import DeferredUpdates._

  private var cells = new Array[Long](0)
  private var wakes = new Array[Long](0)
  private var tops = new Array[Long](0)

  /** Defers a row; returns false if it is at or above its substream's `wake` and must be applied at
    * once.
    */
  def note(now: Long, index: Int, ts: Long): Boolean = {
    val cell = index * Width
    val noted = ts < cells(cell + Calm) || rise(index, ts)
    if (noted) {
      cells(cell + Rows) += 1
      cells(cell + Last) = now
    }
    noted
  }

  /** Sets the lowest event time that is not deferred. */
  def wake(index: Int, ts: Long): Unit = {
    wakes(index) = ts
    calm(index)
  }

  /** The number of deferred rows; read `top` and `last` only when it is above zero. */
  def count(index: Int): Long = if (index < wakes.length) cells(index * Width + Rows) else 0

  def top(index: Int): Long = tops(index)

  def last(index: Int): Long = cells(index * Width + Last)

  /** Clears the deferred rows after they have been applied. */
  def told(index: Int): Unit = {
    cells(index * Width + Rows) = 0
    tops(index) = Long.MinValue
    calm(index)
  }

  /** Makes room for `capacity` substreams. */
  def reach(capacity: Int): Unit = if (capacity > wakes.length) {
    val before = wakes.length
    cells = Arrays.copyOf(cells, capacity * Width)
    wakes = Arrays.copyOf(wakes, capacity)
    tops = Arrays.copyOf(tops, capacity)
    (before until capacity).foreach(begin)
  }

  /** Resets the index for a new substream. */
  def begin(index: Int): Unit = if (wakes.length > 0) {
    if (index >= wakes.length) reach(index * 2)
    wakes(index) = Long.MinValue
    told(index)
  }

  private def rise(index: Int, ts: Long): Boolean = {
    val noted = ts < wakes(index)
    if (noted) { tops(index) = Math.max(tops(index), ts); calm(index) }
    noted
  }

  private def calm(index: Int): Unit =
    cells(index * Width + Calm) = Math.min(tops(index), wakes(index))
}

private object DeferredUpdates {
  // Offsets in the cells of one substream.
  final val Calm = 0 // a time below this is below both `top` and `wake`
  final val Rows = 1
  final val Last = 2
  final val Width = 3
}
