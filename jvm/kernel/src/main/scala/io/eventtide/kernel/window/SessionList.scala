package io.eventtide.kernel.window

/** The sessions of a key in ascending order of their first rows; reused for each key. */
private[window] final class SessionList(buffers: Buffers) {
  private var firsts = new Array[Long](4)
  private var lasts = new Array[Long](4)
  private var contents = new Array[Int](4)
  private var counts = new Array[Int](4)
  private var closed = new Array[Boolean](4)
  private var waiting = new Array[Boolean](4)
  private var length = 0

  def size: Int = length
  def isEmpty: Boolean = length == 0

  /** The time of the first row of a session. No other session has the same. */
  def first(i: Int): Long = firsts(i)

  /** The time of the last row of a session. */
  def last(i: Int): Long = lasts(i)

  /** The rows of a session as one buffer. */
  def content(i: Int): Int = contents(i)

  /** The number of results that a session has emitted. */
  def results(i: Int): Int = counts(i)

  /** Whether a session has been emitted and has had no row since. */
  def isClosed(i: Int): Boolean = closed(i)

  /** Whether some session is not closed. */
  def hasOpen: Boolean = {
    var i = 0
    while (i < length && closed(i)) i += 1
    i < length
  }

  /** Whether a session has rows of an earlier batch that have not been emitted at its end. */
  def isWaiting(i: Int): Boolean = waiting(i)

  /** Begins a batch: open sessions have rows that wait. */
  def beginBatch(): Unit = {
    var i = 0
    while (i < length) {
      waiting(i) = !closed(i)
      i += 1
    }
  }

  def setClosed(i: Int): Unit = closed(i) = true

  def count(i: Int): Unit = counts(i) += 1

  /** The last session that starts at or before `ts`; -1 if there is none. */
  def floor(ts: Long): Int = {
    val found = java.util.Arrays.binarySearch(firsts, 0, length, ts)
    if (found >= 0) found else -found - 2
  }

  /** Begins a session with a row. */
  def insert(at: Int, ts: Long, buffer: Int): Unit = {
    if (length == firsts.length) grow(length * 2)
    move(at, at + 1)
    length += 1
    set(at, ts, ts, buffers.copy(buffer), 0, isClosed = false)
  }

  /** Adds a row to a session, which then has these first and last rows. */
  def add(i: Int, first: Long, last: Long, buffer: Int): Unit = {
    buffers.merge(contents(i), buffer)
    firsts(i) = first
    lasts(i) = last
    closed(i) = false
  }

  /** Merges the session after a session into it. */
  def mergeNext(i: Int): Unit = {
    counts(i) = math.max(counts(i), counts(i + 1))
    waiting(i) ||= waiting(i + 1)
    buffers.merge(contents(i), contents(i + 1))
    buffers.release(remove(i + 1))
  }

  /** Removes a session and returns its buffer, which the caller then owns. */
  def remove(i: Int): Int = {
    val content = contents(i)
    move(i + 1, i)
    length -= 1
    content
  }

  def clear(): Unit = length = 0

  /** As `clear`, and releases the buffers. */
  def release(): Unit = while (length > 0) buffers.release(remove(length - 1))

  private def set(
      i: Int,
      first: Long,
      last: Long,
      content: Int,
      count: Int,
      isClosed: Boolean
  ): Unit = {
    firsts(i) = first
    lasts(i) = last
    contents(i) = content
    counts(i) = count
    closed(i) = isClosed
    waiting(i) = false
  }

  private def move(from: Int, to: Int): Unit = {
    val count = length - from
    System.arraycopy(firsts, from, firsts, to, count)
    System.arraycopy(lasts, from, lasts, to, count)
    System.arraycopy(contents, from, contents, to, count)
    System.arraycopy(counts, from, counts, to, count)
    System.arraycopy(closed, from, closed, to, count)
    System.arraycopy(waiting, from, waiting, to, count)
  }

  private def grow(to: Int): Unit = {
    firsts = java.util.Arrays.copyOf(firsts, to)
    lasts = java.util.Arrays.copyOf(lasts, to)
    contents = java.util.Arrays.copyOf(contents, to)
    counts = java.util.Arrays.copyOf(counts, to)
    closed = java.util.Arrays.copyOf(closed, to)
    waiting = java.util.Arrays.copyOf(waiting, to)
  }

  def write(out: ByteSink): Unit = {
    out.putCount(length.toLong)
    var before = 0L
    var i = 0
    while (i < length) {
      out.putNumber(firsts(i) - before)
      out.putCount(lasts(i) - firsts(i))
      out.putCount(counts(i) * 2L + (if (closed(i)) 1 else 0))
      buffers.write(contents(i), out)
      before = firsts(i)
      i += 1
    }
  }

  def read(in: ByteSource): Unit = {
    val count = in.getCount().toInt
    if (count > firsts.length) grow(count)
    var before = 0L
    length = 0
    while (length < count) {
      val first = before + in.getNumber()
      val last = first + in.getCount()
      val flags = in.getCount()
      set(length, first, last, buffers.read(in), (flags / 2).toInt, flags % 2 == 1)
      before = first
      length += 1
    }
  }
}
