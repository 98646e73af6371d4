package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** The sessions of one key: rows that follow each other closer than a gap.
  *
  * A key has few sessions at a time, usually only the one that grows.
  *
  *   - '''Guarantee:''' as in `WindowSet`; sessions are emitted in ascending order of start.
  *   - '''Edges:''' a row between two sessions merges them. If the maximum duration keeps a row out
  *     of a session, the row starts another session, whose end may be after the start of the next.
  *     A row that joins a closed session opens it again: the session is emitted at once if its end
  *     is still closed, otherwise when it closes.
  *   - '''Restart:''' the record has a version.
  *
  * @param spec the sessions; its delay is the time from the end of a session until it can no longer
  *   change
  * @param lateness part of that delay in which a closed session still accepts rows
  */
final class Sessions(spec: SessionSpec, buffers: Buffers, lateness: Long = 0) extends WindowSet {
  import Sessions.{NoBuffer, NotHere}

  private val closing = spec.copy(delay = spec.delay - lateness)
  private val sessions = new SessionList(buffers)
  private var idleUpTo = Long.MinValue // sessions that end up to here have been closed by idleness

  private var before = Option.empty[Long] // the watermark before the batch
  private var closedBefore = Long.MinValue
  private var lastMark = 0L
  private var lastReplaced = 0L

  // The current session: its position, unless it has been removed, and its content.
  private var current = NotHere
  private var position = 0 // no session before it is emitted any more
  private var evicted = NoBuffer // to release when the next session is current
  private var content = NoBuffer
  private var currentStart = 0L
  private var currentEnd = 0L
  private var earlier = 0
  private var waited = false
  private var finalUpTo = Long.MinValue

  def begin(): Unit = {
    sessions.clear()
    idleUpTo = Long.MinValue
    evicted = NoBuffer
  }

  def beginBatch(watermark: Option[Long]): Unit = {
    before = watermark
    closedBefore = math.max(idleUpTo, watermark.fold(Long.MinValue)(closing.closed))
    current = NotHere
    position = 0
    sessions.beginBatch()
  }

  def isEmpty: Boolean = sessions.isEmpty
  def hasOpen: Boolean = sessions.hasOpen

  def add(ts: Long, buffer: Int): Boolean = {
    val left = sessions.floor(ts)
    val right = left + 1
    val joinsLeft = left >= 0 && joins(left, ts)
    val joinsRight = right < sessions.size && joins(right, ts) &&
      (!joinsLeft || spec.spans(sessions(left).first, sessions(right).last))
    val first = if (joinsLeft) sessions(left).first else ts
    var last = ts
    if (joinsLeft) last = math.max(last, sessions(left).last)
    if (joinsRight) last = math.max(last, sessions(right).last)
    val onTime = before.isEmpty || !spec.isLate(ts, first, last, before.get)
    if (onTime) {
      lastMark = first
      lastReplaced = if (joinsRight) sessions(right).first else first
      if (joinsLeft && joinsRight) sessions.mergeNext(left)
      if (joinsLeft) sessions.add(left, first, last, buffer)
      else if (joinsRight) sessions.add(right, first, last, buffer)
      else sessions.insert(right, ts, buffer)
    }
    onTime
  }

  private def joins(i: Int, ts: Long): Boolean = {
    val (first, last) = (sessions(i).first, sessions(i).last)
    if (ts < first) spec.reaches(ts, first) && spec.spans(ts, last)
    else (ts <= last || spec.reaches(last, ts)) && spec.spans(first, ts)
  }

  override def judgesTogether: Boolean = spec.judgesTogether

  // The mark of a session is its first row.
  def mark: Long = lastMark
  override def replaced: Long = lastReplaced
  def markAfter(mark: Long): Long = mark + 1
  def firstMark: Long = currentStart
  def endMark: Long = currentStart + 1

  def isOpen(mark: Long): Boolean = {
    val i = sessions.floor(mark)
    i >= 0 && sessions(i).first == mark && !sessions(i).isClosed
  }

  def next(watermark: Long): Boolean = {
    finalUpTo = spec.closed(watermark)
    nextUpTo(math.max(idleUpTo, closing.closed(watermark)))
  }

  def nextOfAll(): Boolean = {
    val found = nextUpTo(Long.MaxValue)
    if (found && lateness > 0) idleUpTo = math.max(idleUpTo, currentEnd)
    found
  }

  private def nextUpTo(closed: Long): Boolean = {
    releaseEvicted()
    while (position < sessions.size && (sessions(position).isClosed || endOf(position) > closed))
      position += 1
    val found = position < sessions.size
    if (found) close(position)
    else {
      current = NotHere
      position = 0
    }
    found
  }

  private def close(i: Int): Unit = {
    select(i)
    if (lateness > 0) sessions(i).isClosed = true
    else {
      evicted = sessions.remove(i)
      current = NotHere
    }
  }

  def nextOpen(): Boolean = {
    var i = current + 1
    while (i < sessions.size && sessions(i).isClosed) i += 1
    selectIfAny(i)
  }

  def nextShown(): Boolean = selectIfAny(current + 1)

  private def selectIfAny(i: Int): Boolean = {
    releaseEvicted()
    val found = i < sessions.size
    if (found) select(i)
    found
  }

  private def select(i: Int): Unit = {
    val session = sessions(i)
    current = i
    content = session.content
    currentStart = session.first
    currentEnd = endOf(i)
    earlier = session.results
    waited = session.isWaiting
  }

  private def releaseEvicted(): Unit = if (evicted != NoBuffer) {
    buffers.release(evicted)
    evicted = NoBuffer
  }

  private def endOf(i: Int): Long = spec.end(sessions(i).first, sessions(i).last)

  def isUpdate: Boolean = currentEnd <= closedBefore && !waited
  def isFinal: Boolean = currentEnd <= finalUpTo
  def start: Long = currentStart
  def end: Long = currentEnd
  def result: Int = content
  def index: Int = earlier
  def count(): Unit = if (current != NotHere) sessions(current).results += 1

  def settle(watermark: Option[Long]): Unit = {
    releaseEvicted()
    current = NotHere
    val closed = watermark.fold(Long.MinValue)(spec.closed)
    var i = sessions.size - 1
    while (i >= 0) {
      if (sessions(i).isClosed && endOf(i) <= closed) buffers.release(sessions.remove(i))
      i -= 1
    }
  }

  def release(): Unit = sessions.release()
  def hasUpdates: Boolean = lateness > 0

  def closesAt: Long =
    earliest(i => if (sessions(i).isClosed) WindowSet.Never else closing.closesAt(endOf(i)))

  def due: Long = earliest(i => (if (sessions(i).isClosed) spec else closing).closesAt(endOf(i)))

  private def earliest(of: Int => Long): Long = {
    var first = WindowSet.Never
    var i = 0
    while (i < sessions.size) {
      first = math.min(first, of(i))
      i += 1
    }
    first
  }

  def write(out: ByteSink): Unit = {
    out.putByte(Sessions.Version)
    if (lateness > 0) out.putNumber(idleUpTo)
    sessions.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the sessions of a key", Sessions.Version)
    begin()
    if (lateness > 0) idleUpTo = in.getNumber()
    sessions.read(in)
  }
}

private object Sessions {
  private val Version = 2
  private val NoBuffer = -1
  private val NotHere = -1
}
