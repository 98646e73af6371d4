package io.eventtide.spark.state

import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}

/** Counts keys by timer, so that the next timer is known even if index entries are outdated: an
  * entry holds the key's current timer or an earlier one.
  *
  *   - '''Guarantee:''' exact up to `Most` different times. Beyond that, times less than a unit
  *     apart are counted together; a unit is at most 1/128 of the times' span when there were most
  *     of them.
  *   - '''Restart:''' `write` and `read` keep all state.
  */
private[spark] final class TimerHistogram {
  import TimerHistogram.Most

  private val times = new Array[Long](Most)
  private val counts = new Array[Long](Most)
  private var size = 0
  private var unit = 1L // a power of two

  /** Moves a key's timer to another time; `FrameWindowState.Never` for no timer. */
  def move(from: Long, to: Long): Unit = if (from != to) {
    if (to != FrameWindowState.Never) add(to, 1)
    if (from != FrameWindowState.Never) add(from, -1)
  }

  private def add(at: Long, more: Long): Unit = {
    var i = find(at)
    if (i < 0 && size == Most) {
      coarsen()
      i = find(at)
    }
    if (i < 0) insert(-i - 1, at & -unit, more)
    else {
      counts(i) += more
      if (counts(i) == 0) remove(i)
    }
  }

  private def find(at: Long): Int = java.util.Arrays.binarySearch(times, 0, size, at & -unit)

  private def insert(i: Int, at: Long, count: Long): Unit = {
    System.arraycopy(times, i, times, i + 1, size - i)
    System.arraycopy(counts, i, counts, i + 1, size - i)
    times(i) = at
    counts(i) = count
    size += 1
  }

  private def remove(i: Int): Unit = {
    size -= 1
    System.arraycopy(times, i + 1, times, i, size - i)
    System.arraycopy(counts, i + 1, counts, i, size - i)
    if (size == 0) unit = 1
  }

  private def coarsen(): Unit = while (size > Most / 2) {
    unit *= 2
    var kept = 0
    for (i <- 0 until size) {
      val at = times(i) & -unit
      if (kept > 0 && times(kept - 1) == at) counts(kept - 1) += counts(i)
      else {
        times(kept) = at
        counts(kept) = counts(i)
        kept += 1
      }
    }
    size = kept
  }

  /** The first timer of any key, or the first of the times counted together with it;
    * `FrameWindowState.Never` if no timer is set.
    */
  def first: Long = if (size == 0) FrameWindowState.Never else times(0)

  /** As `first`; but if that time has passed, the end of the unit in which times are counted
    * together.
    */
  def firstAfter(now: Long): Long =
    if (unit > 1 && first <= now) first + unit else first

  def write(out: ByteSink): Unit = {
    out.putCount(unit)
    out.putCount(size.toLong)
    for (i <- 0 until size) {
      out.putNumber(times(i) - (if (i == 0) 0 else times(i - 1)))
      out.putCount(counts(i))
    }
  }

  def read(in: ByteSource): Unit = {
    unit = in.getCount()
    size = in.getCount().toInt
    for (i <- 0 until size) {
      times(i) = in.getNumber() + (if (i == 0) 0 else times(i - 1))
      counts(i) = in.getCount()
    }
  }
}

private object TimerHistogram {
  private val Most = 512
}
