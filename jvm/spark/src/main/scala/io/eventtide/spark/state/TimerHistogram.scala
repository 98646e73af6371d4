package io.eventtide.spark.state

import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}

/** How many keys are due at which time, so that the first time is known while the index of keys is
  * behind: there a key stands at a time at which it was due once, or at a later one.
  *
  *   - '''Guarantee:''' exact while there are no more different times than fit; beyond that times
  *     count together that are less than a unit apart, at most a 128th of the span that they had when they were most.
  *   - '''Restart:''' `write` and `read` keep all of it.
  */
private[spark] final class TimerHistogram {
  import TimerHistogram.Most

  private val times = new Array[Long](Most)
  private val counts = new Array[Long](Most)
  private var size = 0
  private var unit = 1L // a power of two

  /** A key is due at another time, `FrameWindowState.Never` for none. */
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

  /** The first time at which a key is due, or of times that count together the first; `FrameWindowState.Never`
    * if none is due.
    */
  def first: Long = if (size == 0) FrameWindowState.Never else times(0)

  /** As `first`, but once that has come, behind all times that count together with it. */
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
