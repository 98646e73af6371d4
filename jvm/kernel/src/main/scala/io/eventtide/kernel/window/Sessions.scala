package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** The sessions of one key: rows that follow each other closer than a gap.
  *
  * Sessions are ordered by first row. A key has few at a time, usually only the one that grows.
  *
  *   - '''Guarantee:''' as in `WindowSet`; sessions are emitted in ascending order of start.
  *   - '''Edges:''' a row between two sessions merges them. If the maximum duration keeps a row out
  *     of a session, the row starts another session, whose end may be after the start of the next.
  *   - '''Restart:''' the record has a version.
  */
final class Sessions(spec: SessionSpec, buffers: Buffers) extends WindowSet {
  private var firsts = new Array[Long](4)
  private var lasts = new Array[Long](4)
  private var held = new Array[Int](4)
  private var counts = new Array[Int](4) // number of results that each session has emitted
  private var size = 0

  private var judge = Option.empty[Long] // the watermark that decides which rows are late
  private var lastTime = 0L
  private var shown = Sessions.NoBuffer
  private var startGiven = 0L
  private var endGiven = 0L
  private var indexGiven = 0

  def begin(): Unit = {
    size = 0
    shown = Sessions.NoBuffer
  }

  def judgeBy(watermark: Option[Long]): Unit = judge = watermark

  def isEmpty: Boolean = size == 0

  def add(ts: Long, buffer: Int): Boolean = {
    lastTime = ts
    val left = before(ts)
    val joinsLeft = left >= 0 && joins(left, ts)
    val joinsRight = left + 1 < size && joins(left + 1, ts) &&
      (!joinsLeft || spec.spans(firsts(left), lasts(left + 1)))
    val first = if (joinsLeft) firsts(left) else ts
    var last = ts
    if (joinsLeft) last = math.max(last, lasts(left))
    if (joinsRight) last = math.max(last, lasts(left + 1))
    val onTime = judge.isEmpty || !spec.isLate(ts, first, last, judge.get)
    if (onTime) {
      val at = if (joinsLeft) left else left + 1
      if (joinsLeft && joinsRight) unite(left)
      else if (!joinsLeft && !joinsRight) insert(at, ts)
      if (held(at) == Sessions.NoBuffer) held(at) = buffers.copy(buffer)
      else buffers.merge(held(at), buffer)
      firsts(at) = first
      lasts(at) = last
    }
    onTime
  }

  override def judgesTogether: Boolean = spec.judgesTogether

  def mark: Long = lastTime

  def apart: Long = spec.gap

  def isOpen(mark: Long): Boolean = {
    val i = before(mark)
    i >= 0 && mark < endOf(i)
  }

  /** The last session that starts at or before `ts`; -1 if there is none. */
  private def before(ts: Long): Int = {
    val found = java.util.Arrays.binarySearch(firsts, 0, size, ts)
    if (found >= 0) found else -found - 2
  }

  private def joins(i: Int, ts: Long): Boolean =
    if (ts < firsts(i)) spec.reaches(ts, firsts(i)) && spec.spans(ts, lasts(i))
    else (ts <= lasts(i) || spec.reaches(lasts(i), ts)) && spec.spans(firsts(i), ts)

  private def unite(left: Int): Unit = {
    counts(left) = math.max(counts(left), counts(left + 1))
    buffers.merge(held(left), held(left + 1))
    buffers.release(held(left + 1))
    remove(left + 1)
  }

  private def insert(at: Int, ts: Long): Unit = {
    if (size == firsts.length) grow()
    System.arraycopy(firsts, at, firsts, at + 1, size - at)
    System.arraycopy(lasts, at, lasts, at + 1, size - at)
    System.arraycopy(held, at, held, at + 1, size - at)
    System.arraycopy(counts, at, counts, at + 1, size - at)
    held(at) = Sessions.NoBuffer
    counts(at) = 0
    size += 1
  }

  private def remove(at: Int): Unit = {
    size -= 1
    System.arraycopy(firsts, at + 1, firsts, at, size - at)
    System.arraycopy(lasts, at + 1, lasts, at, size - at)
    System.arraycopy(held, at + 1, held, at, size - at)
    System.arraycopy(counts, at + 1, counts, at, size - at)
  }

  private def grow(): Unit = {
    firsts = java.util.Arrays.copyOf(firsts, size * 2)
    lasts = java.util.Arrays.copyOf(lasts, size * 2)
    held = java.util.Arrays.copyOf(held, size * 2)
    counts = java.util.Arrays.copyOf(counts, size * 2)
  }

  def next(watermark: Long): Boolean = nextUpTo(spec.closed(watermark))

  def nextOfAll(): Boolean = nextUpTo(Long.MaxValue)

  private def nextUpTo(closed: Long): Boolean = {
    if (shown != Sessions.NoBuffer) buffers.release(shown)
    shown = Sessions.NoBuffer
    var i = 0
    while (i < size && endOf(i) > closed) i += 1
    val found = i < size
    if (found) give(i)
    found
  }

  private def give(i: Int): Unit = {
    startGiven = firsts(i)
    endGiven = endOf(i)
    indexGiven = counts(i)
    shown = held(i)
    remove(i)
  }

  private def endOf(i: Int): Long = spec.end(firsts(i), lasts(i))

  def start: Long = startGiven
  def end: Long = endGiven
  def result: Int = shown

  def index: Int = indexGiven

  def count(start: Long, end: Long): Unit = {
    val i = before(start)
    if (i >= 0 && firsts(i) == start) counts(i) += 1
  }

  // The count of a session is removed with the session.
  def forget(watermark: Long): Unit = ()

  def due: Long = {
    var earliest = WindowSet.Never
    var i = 0
    while (i < size) {
      earliest = math.min(earliest, spec.closesAt(endOf(i)))
      i += 1
    }
    earliest
  }

  def write(out: ByteSink): Unit = {
    out.putByte(Sessions.Version)
    out.putCount(size.toLong)
    var before = 0L
    var i = 0
    while (i < size) {
      out.putNumber(firsts(i) - before)
      out.putCount(lasts(i) - firsts(i))
      out.putCount(counts(i).toLong)
      buffers.write(held(i), out)
      before = firsts(i)
      i += 1
    }
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the sessions of a key", Sessions.Version)
    begin()
    val count = in.getCount().toInt
    var before = 0L
    while (size < count) {
      if (size == firsts.length) grow()
      before += in.getNumber()
      firsts(size) = before
      lasts(size) = before + in.getCount()
      counts(size) = in.getCount().toInt
      held(size) = buffers.read(in)
      size += 1
    }
  }
}

private object Sessions {
  private val Version = 1
  private val NoBuffer = -1
}
