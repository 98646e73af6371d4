package io.eventtide.kernel.watermark

import java.util.Arrays

/** Defers rows that cannot move the emitted watermark, as a few numbers per substream.
  *
  * A row below its substream's threshold changes only a maximum and a count, and most rows not even
  * the maximum. The fields of a substream are adjacent in memory, so such a row touches one or two
  * cache lines and calls no other object.
  *
  *   - '''Guarantee:''' the order of deferred rows does not matter when they are applied; allocates
  *     only in `ensureCapacity`.
  *   - '''Units:''' times are event times, `last` is a clock value.
  *   - '''Edges:''' an index starts with threshold `Long.MinValue`, so no row is deferred. The same
  *     holds for an unused index: the caller applies its row immediately and rejects it. There is
  *     space only after the first `ensureCapacity`; batches do not need any.
  *   - '''Restart:''' nothing to save: deferred rows are applied before their substream is read.
  */
private[watermark] final class DeferredUpdates {
  import DeferredUpdates._

  private var cells = new Array[Long](0)
  private var thresholds = new Array[Long](0)
  private var tops = new Array[Long](0)

  /** Defers a row; returns false if it is at or above its substream's threshold and must be applied
    * immediately.
    */
  def defer(now: Long, index: Int, ts: Long): Boolean = {
    val cell = index * Width
    val isDeferred = ts < cells(cell + CountOnly) || deferHighest(index, ts)
    if (isDeferred) {
      cells(cell + Rows) += 1
      cells(cell + Last) = now
    }
    isDeferred
  }

  /** Sets the lowest event time that is not deferred. */
  def setThreshold(index: Int, ts: Long): Unit = {
    thresholds(index) = ts
    updateCountOnly(index)
  }

  /** The number of deferred rows; read `top` and `last` only when it is above zero. */
  def count(index: Int): Long = if (index < thresholds.length) cells(index * Width + Rows) else 0

  def top(index: Int): Long = tops(index)

  def last(index: Int): Long = cells(index * Width + Last)

  /** Clears the deferred rows after they have been applied. */
  def clear(index: Int): Unit = {
    cells(index * Width + Rows) = 0
    tops(index) = Long.MinValue
    updateCountOnly(index)
  }

  /** Allocates space for `capacity` substreams. */
  def ensureCapacity(capacity: Int): Unit = if (capacity > thresholds.length) {
    val before = thresholds.length
    cells = Arrays.copyOf(cells, capacity * Width)
    thresholds = Arrays.copyOf(thresholds, capacity)
    tops = Arrays.copyOf(tops, capacity)
    (before until capacity).foreach(reset)
  }

  /** Resets the index for a new substream. */
  def reset(index: Int): Unit = if (thresholds.length > 0) {
    if (index >= thresholds.length) ensureCapacity(index * 2)
    thresholds(index) = Long.MinValue
    clear(index)
  }

  private def deferHighest(index: Int, ts: Long): Boolean = {
    val isDeferred = ts < thresholds(index)
    if (isDeferred) { tops(index) = Math.max(tops(index), ts); updateCountOnly(index) }
    isDeferred
  }

  private def updateCountOnly(index: Int): Unit =
    cells(index * Width + CountOnly) = Math.min(tops(index), thresholds(index))
}

private object DeferredUpdates {
  // Offsets in the cells of one substream.
  final val CountOnly = 0 // a time below this is below both `top` and threshold
  final val Rows = 1
  final val Last = 2
  final val Width = 3
}
