package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}

/** The timer of one key at a time, in an index whose entry may hold an earlier time.
  *
  * @param counts
  *   the timers of all keys of the partition
  */
private[state] final class KeyTimer(index: TimerIndex, val counts: TimerHistogram) {
  private var indexed = FrameWindowState.Never // the indexed time
  private var time = FrameWindowState.Never // the timer: that time or later

  def begin(): Unit = {
    indexed = FrameWindowState.Never
    time = FrameWindowState.Never
  }

  /** Sets the key's next timer; index entries up to `passed` have been processed. */
  def move(key: UnsafeRow, id: Long, next: Long, passed: Long): Unit = {
    val canSkipWrite = next != FrameWindowState.Never && indexed <= next && indexed > passed
    if (!canSkipWrite) indexed = index.move(key, id, indexed, next)
    counts.move(time, next)
    time = next
  }

  /** Removes the key's timer. */
  def remove(key: UnsafeRow, id: Long): Unit =
    move(key, id, FrameWindowState.Never, FrameWindowState.Never)

  /** Adds the timer that was read to the index. */
  def adopt(key: UnsafeRow, id: Long): Unit = {
    index.move(key, id, FrameWindowState.Never, indexed): Unit
    counts.move(FrameWindowState.Never, time)
  }

  def write(out: ByteSink): Unit = {
    val isIndexed = indexed != FrameWindowState.Never
    out.putByte(if (isIndexed) 1 else 0)
    if (isIndexed) {
      out.putNumber(indexed)
      out.putCount(time - indexed)
    }
  }

  def read(in: ByteSource): Unit = {
    begin()
    if (in.getByte() == 1) {
      indexed = in.getNumber()
      time = indexed + in.getCount()
    }
  }
}
