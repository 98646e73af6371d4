package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** The sessions of one key: rows that overlap, where each covers the time from its event time until
  * a gap later.
  *
  * A key has few sessions at a time, usually only the growing session.
  *
  *   - '''Guarantee:''' as in `WindowSet`; sessions are emitted in ascending order of start.
  *   - '''Edges:''' a row that reaches several sessions merges them. If the maximum duration keeps
  *     a row out of a session, the row starts another session. The end of that session may be after
  *     the start of the next. A row that joins a closed session opens it again. If the session's
  *     end is still closed, the session is emitted immediately, otherwise when it closes.
  *   - '''Restart:''' the record has a version.
  *
  * @param spec the sessions; its delay is the time from the end of a session until it can no longer
  *   change
  * @param lateness part of that delay in which a closed session still accepts rows
  */
final class Sessions(spec: SessionSpec, buffers: Buffers, lateness: Long = 0) extends WindowSet {
  import Sessions.{NoBuffer, NotHere}

  private val closing = spec.copy(delay = spec.delay - lateness)
  private val sessions = new SessionList(spec.gap, buffers)
  private var idleUpTo = Long.MinValue // sessions that end up to here have been closed by idleness

  private var before = Option.empty[Long] // the watermark before the batch
  private var closedBefore = Long.MinValue
  private var lastMark = 0L
  private var lastReplaced = 0L

  // The current session: its position, unless it has been removed, and its content.
  private var current = NotHere
  private var position = 0 // no session before this position is emitted any more
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

  def add(ts: Long, buffer: Int): Boolean = add(ts, spec.gap.get, buffer)

  override def add(ts: Long, gap: Long, buffer: Int): Boolean = {
    val until = Clamped.add(ts, gap)
    val at = sessions.floor(ts) + 1
    val from = if (at > 0 && joins(at - 1, ts)) at - 1 else at
    val behind = behindReached(at, if (from < at) sessions(from).first else ts, until)
    val onTime = before.isEmpty ||
      !spec.isLate(ts, spec.end(ts, until), joinedEnd(ts, until, from, behind), before.get)
    if (onTime) put(ts, until, from, behind, buffer)
    onTime
  }

  /** Whether a row belongs to a session that starts at or before it. */
  private def joins(i: Int, ts: Long): Boolean = {
    val session = sessions(i)
    (ts <= session.last || spec.reaches(session.until, ts)) && spec.spans(session.first, ts)
  }

  /** The position after the last session, from `at` on, that an earlier row reaches.
    *
    * @param first start of the row's session
    * @param until end of the time that the row covers
    */
  private def behindReached(at: Int, first: Long, until: Long): Int = {
    var i = at
    while (
      i < sessions.size && spec.reaches(until, sessions(i).first) &&
      spec.spans(first, sessions(i).last)
    ) i += 1
    i
  }

  /** The end of the session that merges a row and the sessions `from` until `behind`. */
  private def joinedEnd(ts: Long, until: Long, from: Int, behind: Int): Long = {
    var latest = until
    var i = from
    while (i < behind) {
      latest = math.max(latest, sessions(i).until)
      i += 1
    }
    spec.end(if (from < behind) math.min(ts, sessions(from).first) else ts, latest)
  }

  /** Merges a row and the sessions `from` until `behind`. */
  private def put(ts: Long, until: Long, from: Int, behind: Int, buffer: Int): Unit =
    if (from == behind) {
      sessions.insert(from, ts, until, buffer)
      lastMark = ts
      lastReplaced = ts
    } else {
      lastReplaced = sessions(behind - 1).first
      var more = behind - from - 1
      while (more > 0) {
        sessions.mergeNext(from)
        more -= 1
      }
      sessions.add(from, ts, until, buffer)
      lastMark = sessions(from).first
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

  private def endOf(i: Int): Long = spec.end(sessions(i).first, sessions(i).until)

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
