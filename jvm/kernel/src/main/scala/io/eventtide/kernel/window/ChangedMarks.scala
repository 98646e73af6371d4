package io.eventtide.kernel.window

import scala.collection.mutable.ArrayBuffer

/** The rows added to the windows of a key since the caller last removed them, by mark; see
  * `WindowSet.mark`.
  *
  *   - '''Restart:''' `write` and `read` keep all state.
  *
  * @param buffers where rows are aggregated by mark; None if only their number is needed
  */
private[window] final class ChangedMarks(buffers: Option[Buffers]) {
  import ChangedMarks.Change

  private val pool = buffers.orNull
  private val changes = ArrayBuffer.empty[Change] // in ascending order of marks

  def isEmpty: Boolean = changes.isEmpty

  /** Adds `count` rows whose windows `windows` has just updated. */
  def add(windows: WindowSet, count: Long, buffer: Int): Unit = {
    val mark = windows.mark
    if (windows.replaced > mark) moveUpTo(windows.replaced, mark)
    val i = position(mark)
    if (has(i, mark)) {
      changes(i).add(count)
      if (pool != null) pool.merge(changes(i).content, buffer)
    } else {
      val change = new Change(mark, 0, if (pool == null) -1 else pool.copy(buffer))
      change.add(count)
      changes.insert(i, change)
    }
  }

  /** The first position at or above a mark. */
  private def position(mark: Long): Int =
    TimeRange.first(0, changes.length.toLong)(i => changes(i.toInt).mark >= mark).toInt

  private def has(i: Int, mark: Long): Boolean = i < changes.length && changes(i).mark == mark

  /** Moves the rows of the marks above `to`, up to `highest`. */
  private def moveUpTo(highest: Long, to: Long): Unit = {
    var i = position(to + 1)
    while (i < changes.length && changes(i).mark <= highest) {
      addMoved(to, changes.remove(i))
      i = position(to + 1)
    }
  }

  private def addMoved(to: Long, moved: Change): Unit = {
    val i = position(to)
    if (!has(i, to)) changes.insert(i, new Change(to, moved.rows, moved.content))
    else {
      changes(i).add(moved.rows.toLong)
      if (pool != null) {
        pool.merge(changes(i).content, moved.content)
        pool.release(moved.content)
      }
    }
  }

  /** Whether the current window of `windows` has such rows. */
  def isIn(windows: WindowSet): Boolean = {
    val i = position(windows.firstMark)
    i < changes.length && changes(i).mark < windows.endMark
  }

  /** A new buffer with these rows of the current window of `windows`. */
  def sum(windows: WindowSet): Int = {
    val all = pool.fresh()
    var i = position(windows.firstMark)
    while (i < changes.length && changes(i).mark < windows.endMark) {
      pool.merge(all, changes(i).content)
      i += 1
    }
    all
  }

  /** Adds all marks to `into`. */
  def copyTo(into: FrameList): Unit = copyTo(into, 0, changes.length)

  private def copyTo(into: FrameList, from: Int, until: Int): Unit = {
    var i = from
    while (i < until) {
      into.append(changes(i).mark, -1)
      i += 1
    }
  }

  /** Adds the marks of windows with at least `least` rows to `into`. Windows that share rows are
    * added together.
    */
  def copyFull(least: Int, windows: WindowSet, into: FrameList): Unit = {
    var first = 0 // of windows that share rows
    var end = 0 // behind the last mark of the window that begins with mark `i`
    var count = 0L // rows of that window
    var isFull = false
    var i = 0
    while (i < changes.length) {
      val after = windows.markAfter(changes(i).mark)
      while (end < changes.length && changes(end).mark < after) {
        count += changes(end).rows
        end += 1
      }
      isFull ||= count >= least
      count -= changes(i).rows
      i += 1
      if (i == end) { // no window has both this mark and the next one
        if (isFull) copyTo(into, first, i)
        first = i
        isFull = false
      }
    }
  }

  /** Removes the rows of these marks, which must be in this instance. */
  def removeAll(some: FrameList): Unit =
    if (some.size == changes.length) clear()
    else if (!some.isEmpty) filter(mark => !some.has(mark))

  /** Keeps the rows of the marks for which `holds` is true. */
  def filter(holds: Long => Boolean): Unit = changes.filterInPlace { change =>
    val isKept = holds(change.mark)
    if (!isKept && pool != null) pool.release(change.content)
    isKept
  }

  def clear(): Unit = filter(_ => false)

  /** Begins another key, without rows; buffers of the previous key are no longer valid. */
  def begin(): Unit = changes.clear()

  def write(out: ByteSink): Unit = {
    out.putCount(changes.length.toLong)
    var before = 0L
    for (change <- changes) {
      out.putNumber(change.mark - before)
      before = change.mark
      out.putCount(change.rows.toLong)
      if (pool != null) pool.write(change.content, out)
    }
  }

  def read(in: ByteSource): Unit = {
    begin()
    var mark = 0L
    for (_ <- 0 until in.getCount().toInt) {
      mark += in.getNumber()
      val rows = in.getCount().toInt
      changes += new Change(mark, rows, if (pool == null) -1 else pool.read(in))
    }
  }
}

private object ChangedMarks {

  /** The rows of one mark.
    *
    * @param rows their number, at most the highest Int
    * @param content their aggregate; not used without buffers
    */
  final class Change(val mark: Long, var rows: Int, val content: Int) {
    def add(count: Long): Unit = rows = math.min(rows + count, Int.MaxValue.toLong).toInt
  }
}
