package io.eventtide.kernel.window

/** Frames in ascending order with one buffer each; cheap to append to and to remove from the start.
  *
  * Reused for each key, to avoid allocation.
  */
private[window] final class FrameList {
  private var frames = new Array[Long](16)
  private var buffers = new Array[Int](16)
  private var from = 0
  private var until = 0

  def size: Int = until - from
  def isEmpty: Boolean = until == from
  def frame(i: Int): Long = frames(from + i)
  def buffer(i: Int): Int = buffers(from + i)
  def first: Long = frames(from)
  def last: Long = frames(until - 1)

  def clear(): Unit = {
    from = 0
    until = 0
  }

  def append(frame: Long, buffer: Int): Unit = {
    makeRoom()
    frames(until) = frame
    buffers(until) = buffer
    until += 1
  }

  /** Inserts before position `at`. */
  def insert(at: Int, frame: Long, buffer: Int): Unit = {
    makeRoom()
    val i = from + at
    System.arraycopy(frames, i, frames, i + 1, until - i)
    System.arraycopy(buffers, i, buffers, i + 1, until - i)
    frames(i) = frame
    buffers(i) = buffer
    until += 1
  }

  def set(i: Int, buffer: Int): Unit = buffers(from + i) = buffer

  def remove(i: Int): Unit = cut(i, i + 1)

  def dropFirst(): Unit = cut(0, 1)

  def releaseFirst(all: Buffers): Unit = {
    all.release(buffer(0))
    dropFirst()
  }

  /** As `clear`, and releases the buffers. */
  def release(all: Buffers): Unit = {
    var i = from
    while (i < until) {
      all.release(buffers(i))
      i += 1
    }
    clear()
  }

  /** Moves positions `start` until `end` of `other` to the end of this list. */
  def take(other: FrameList, start: Int, end: Int): Unit = {
    var i = start
    while (i < end) {
      append(other.frame(i), other.buffer(i))
      i += 1
    }
    other.cut(start, end)
  }

  private def cut(start: Int, end: Int): Unit =
    if (start == 0) {
      from += end
      if (from == until) clear()
    } else {
      val rest = size - end
      System.arraycopy(frames, from + end, frames, from + start, rest)
      System.arraycopy(buffers, from + end, buffers, from + start, rest)
      until -= end - start
    }

  /** The last position whose frame is at or below `frame`; -1 if there is none. */
  def floor(frame: Long): Int =
    if (isEmpty || frame < first) -1
    else if (frame >= last) size - 1
    else {
      val found = java.util.Arrays.binarySearch(frames, from, until, frame)
      (if (found >= 0) found else -found - 2) - from
    }

  def has(frame: Long): Boolean = {
    val i = floor(frame)
    i >= 0 && this.frame(i) == frame
  }

  /** Whether a frame in `[start, end)` is in the list. */
  def hasIn(start: Long, end: Long): Boolean = {
    val i = floor(end - 1)
    i >= 0 && frame(i) >= start
  }

  /** Passes the frames in `[start, end)` to `show`, in order. */
  def foreach(start: Long, end: Long)(show: (Long, Int) => Unit): Unit = {
    var i = if (has(start)) floor(start) else floor(start) + 1
    while (i < size && frame(i) < end) {
      show(frame(i), buffer(i))
      i += 1
    }
  }

  /** Merges `buffer` into the buffer of `frame`; inserts a copy if the frame is not in the list. */
  def merge(frame: Long, buffer: Int, all: Buffers): Unit = {
    val i = floor(frame)
    if (i >= 0 && this.frame(i) == frame) all.merge(this.buffer(i), buffer)
    else insert(i + 1, frame, all.copy(buffer))
  }

  /** Sets the buffer of `frame`; inserts the frame if it is not in the list. */
  def put(frame: Long, buffer: Int): Unit = {
    val i = floor(frame)
    if (i >= 0 && this.frame(i) == frame) set(i, buffer) else insert(i + 1, frame, buffer)
  }

  def write(out: ByteSink, all: Buffers): Unit = {
    writeFrames(out)
    var i = 0
    while (i < size) {
      all.write(buffer(i), out)
      i += 1
    }
  }

  def read(in: ByteSource, all: Buffers): Unit = {
    readFrames(in)
    var i = from
    while (i < until) {
      buffers(i) = all.read(in)
      i += 1
    }
  }

  /** As `write`, without the buffers. */
  def writeFrames(out: ByteSink): Unit = {
    out.putCount(size.toLong)
    var before = 0L
    var i = 0
    while (i < size) {
      if (i == 0) out.putNumber(first) else out.putCount(frame(i) - before - 1)
      before = frame(i)
      i += 1
    }
  }

  def readFrames(in: ByteSource): Unit = {
    clear()
    val count = in.getCount().toInt
    var before = 0L
    var i = 0
    while (i < count) {
      before = if (i == 0) in.getNumber() else before + in.getCount() + 1
      append(before, -1)
      i += 1
    }
  }

  private def makeRoom(): Unit = if (until == frames.length) {
    if (from > until / 2) shift()
    else {
      frames = java.util.Arrays.copyOf(frames, until * 2)
      buffers = java.util.Arrays.copyOf(buffers, until * 2)
    }
  }

  private def shift(): Unit = {
    System.arraycopy(frames, from, frames, 0, size)
    System.arraycopy(buffers, from, buffers, 0, size)
    until -= from
    from = 0
  }
}
