package io.eventtide.kernel.window

import io.eventtide.kernel.time.Clamped

/** The number of panes that each window of a key has emitted, by window end.
  *
  * Consecutive windows mostly have the same count, so only the ends where it changes are stored.
  */
private[window] final class PaneCounts {
  private val steps = new FrameList // first end with a new count, and that count; the last is 0

  def apply(end: Long): Int = {
    val i = steps.floor(end)
    if (i < 0) 0 else steps.buffer(i)
  }

  def update(end: Long, count: Int): Unit = {
    val after = this(end + 1)
    steps.put(end, count)
    steps.put(end + 1, after)
    dropIfSame(end + 1)
    dropIfSame(end)
  }

  private def dropIfSame(end: Long): Unit = {
    val i = steps.floor(end)
    val before = if (i == 0) 0 else steps.buffer(i - 1)
    if (steps.buffer(i) == before) steps.remove(i)
  }

  /** Discards the counts of windows that end at or before `end`. */
  def forget(end: Long): Unit = {
    val next = Clamped.add(end, 1)
    while (!steps.isEmpty && (steps.size == 1 || steps.frame(1) <= next)) steps.dropFirst()
  }

  def clear(): Unit = steps.clear()

  def write(out: ByteSink): Unit = {
    steps.writeFrames(out)
    var i = 0
    while (i < steps.size) {
      out.putCount(steps.buffer(i).toLong)
      i += 1
    }
  }

  def read(in: ByteSource): Unit = {
    steps.readFrames(in)
    var i = 0
    while (i < steps.size) {
      steps.set(i, in.getCount().toInt)
      i += 1
    }
  }
}
