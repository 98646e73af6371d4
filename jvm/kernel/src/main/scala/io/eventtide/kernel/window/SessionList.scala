package io.eventtide.kernel.window

import scala.collection.mutable.ArrayBuffer

import io.eventtide.kernel.time.Clamped

/** A session of a key.
  *
  * @param first the time of its first row; unique among the sessions of a key
  * @param last the time of its last row
  * @param until the end of the time that its rows cover
  * @param content its rows as one buffer
  * @param results the number of results that it has emitted
  * @param isClosed whether it has been emitted and has had no row since
  */
private[window] final class Session(
    var first: Long,
    var last: Long,
    var until: Long,
    val content: Int,
    var results: Int = 0,
    var isClosed: Boolean = false
) {

  /** Whether it has rows of an earlier batch that have not been emitted at its end. */
  var isWaiting = false
}

/** The sessions of a key in ascending order of their first rows; reused for each key.
  *
  * @param gap the gap of every row; with it, the last row of a session determines its end. None if
  *   each row has its own gap
  */
private[window] final class SessionList(gap: Option[Long], buffers: Buffers) {
  private val sessions = ArrayBuffer.empty[Session]

  def size: Int = sessions.length
  def isEmpty: Boolean = sessions.isEmpty
  def apply(i: Int): Session = sessions(i)

  /** Whether some session is not closed. */
  def hasOpen: Boolean = sessions.exists(!_.isClosed)

  /** Begins a batch: open sessions have waiting rows. */
  def beginBatch(): Unit = sessions.foreach(session => session.isWaiting = !session.isClosed)

  /** The last session that starts at or before `ts`; -1 if there is none. */
  def floor(ts: Long): Int =
    TimeRange.first(0, sessions.length.toLong)(i => sessions(i.toInt).first > ts).toInt - 1

  /** Begins a session with a row that covers the time until `until`. */
  def insert(at: Int, ts: Long, until: Long, buffer: Int): Unit =
    sessions.insert(at, new Session(ts, ts, until, buffers.copy(buffer)))

  /** Adds a row that covers the time until `until` to a session. */
  def add(i: Int, ts: Long, until: Long, buffer: Int): Unit = {
    val session = sessions(i)
    buffers.merge(session.content, buffer)
    session.first = math.min(session.first, ts)
    session.last = math.max(session.last, ts)
    session.until = math.max(session.until, until)
    session.isClosed = false
  }

  /** Merges the next session into a session. */
  def mergeNext(i: Int): Unit = {
    val (session, next) = (sessions(i), sessions(i + 1))
    session.last = math.max(session.last, next.last)
    session.until = math.max(session.until, next.until)
    session.results = math.max(session.results, next.results)
    session.isWaiting ||= next.isWaiting
    buffers.merge(session.content, next.content)
    buffers.release(remove(i + 1))
  }

  /** Removes a session and returns its buffer, which the caller then owns. */
  def remove(i: Int): Int = sessions.remove(i).content

  def clear(): Unit = sessions.clear()

  /** As `clear`, and releases the buffers. */
  def release(): Unit = {
    sessions.foreach(session => buffers.release(session.content))
    clear()
  }

  def write(out: ByteSink): Unit = {
    out.putCount(sessions.length.toLong)
    var before = 0L
    for (session <- sessions) {
      out.putNumber(session.first - before)
      out.putCount(session.last - session.first)
      if (gap.isEmpty) out.putCount(session.until - session.last)
      out.putCount(session.results * 2L + (if (session.isClosed) 1 else 0))
      buffers.write(session.content, out)
      before = session.first
    }
  }

  def read(in: ByteSource): Unit = {
    clear()
    var first = 0L
    for (_ <- 0 until in.getCount().toInt) {
      first += in.getNumber()
      val last = first + in.getCount()
      val until = gap.fold(last + in.getCount())(Clamped.add(last, _))
      val flags = in.getCount()
      sessions +=
        new Session(first, last, until, buffers.read(in), (flags / 2).toInt, flags % 2 == 1)
    }
  }
}
