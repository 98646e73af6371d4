package io.eventtide.kernel.window

/** The rows that were added to the windows of a key since some moment, by mark; see
  * `WindowSet.mark`.
  *
  *   - '''Restart:''' `write` and `read` keep all state.
  *
  * @param buffers where rows are aggregated by mark; None if only their number is needed
  */
private[window] final class ChangedMarks(buffers: Option[Buffers]) {
  private val rows = new FrameList // the number of rows, in place of a buffer
  private val contents = new FrameList // the aggregate of the rows
  private val pool = buffers.orNull

  def isEmpty: Boolean = rows.isEmpty

  /** Adds `count` rows whose windows `windows` has just updated. */
  def add(windows: WindowSet, count: Long, buffer: Int): Unit = {
    val mark = windows.mark
    if (windows.replaced != mark) move(windows.replaced, mark)
    addRows(mark, count)
    if (pool != null) contents.merge(mark, buffer, pool)
  }

  private def addRows(mark: Long, count: Long): Unit = {
    val i = rows.floor(mark)
    if (i >= 0 && rows.frame(i) == mark) rows.set(i, clamp(rows.buffer(i) + count))
    else rows.insert(i + 1, mark, clamp(count))
  }

  private def clamp(count: Long): Int = math.min(count, Int.MaxValue.toLong).toInt

  private def move(from: Long, to: Long): Unit = if (rows.has(from)) {
    val i = rows.floor(from)
    val count = rows.buffer(i)
    rows.remove(i)
    addRows(to, count.toLong)
    if (pool != null) {
      val content = contents.buffer(i)
      contents.remove(i)
      contents.merge(to, content, pool)
      pool.release(content)
    }
  }

  /** Whether the current window of `windows` has such rows. */
  def isIn(windows: WindowSet): Boolean = ChangedMarks.isIn(rows, windows)

  /** A new buffer with these rows of the current window of `windows`. */
  def sum(windows: WindowSet): Int = {
    val all = pool.fresh()
    contents.foreach(windows.firstMark, windows.endMark)((_, buffer) => pool.merge(all, buffer))
    all
  }

  /** Adds all marks to `into`. */
  def copyTo(into: FrameList): Unit = copyTo(into, 0, rows.size)

  private def copyTo(into: FrameList, from: Int, until: Int): Unit = {
    var i = from
    while (i < until) {
      into.append(rows.frame(i), ChangedMarks.NoBuffer)
      i += 1
    }
  }

  /** Adds the marks of windows with at least `least` rows to `into`. Windows that share rows come
    * together.
    */
  def copyFull(least: Int, windows: WindowSet, into: FrameList): Unit = {
    var from = 0
    while (from < rows.size) {
      var until = from
      var isFull = false
      var end = windows.markAfter(rows.frame(from))
      while (until < rows.size && rows.frame(until) < end) {
        end = windows.markAfter(rows.frame(until))
        isFull ||= countFrom(until, end, least) >= least
        until += 1
      }
      if (isFull) copyTo(into, from, until)
      from = until
    }
  }

  /** The number of rows with marks from position `from` until `end`; at least `least` if more. */
  private def countFrom(from: Int, end: Long, least: Int): Long = {
    var count = 0L
    var i = from
    while (i < rows.size && count < least && rows.frame(i) < end) {
      count += rows.buffer(i)
      i += 1
    }
    count
  }

  /** Removes the rows of these marks. */
  def removeAll(marks: FrameList): Unit =
    if (marks.size == rows.size) clear()
    else
      filter(mark => !marks.has(mark))

  /** Keeps the rows of the marks for which `holds` is true. */
  def filter(holds: Long => Boolean): Unit = {
    var i = rows.size - 1
    while (i >= 0) {
      if (!holds(rows.frame(i))) {
        if (pool != null) {
          pool.release(contents.buffer(i))
          contents.remove(i)
        }
        rows.remove(i)
      }
      i -= 1
    }
  }

  def clear(): Unit = {
    rows.clear()
    if (pool != null) contents.release(pool)
  }

  /** Begins another key, without rows; its buffers are not those of the key before. */
  def begin(): Unit = {
    rows.clear()
    contents.clear()
  }

  def write(out: ByteSink): Unit = {
    rows.writeFrames(out)
    var i = 0
    while (i < rows.size) {
      out.putCount(rows.buffer(i).toLong)
      if (pool != null) pool.write(contents.buffer(i), out)
      i += 1
    }
  }

  def read(in: ByteSource): Unit = {
    begin()
    rows.readFrames(in)
    var i = 0
    while (i < rows.size) {
      rows.set(i, in.getCount().toInt)
      if (pool != null) contents.append(rows.frame(i), pool.read(in))
      i += 1
    }
  }
}

private[window] object ChangedMarks {
  private val NoBuffer = -1

  /** Whether the current window of `windows` has one of these marks. */
  def isIn(marks: FrameList, windows: WindowSet): Boolean = {
    val i = marks.floor(windows.endMark - 1)
    i >= 0 && marks.frame(i) >= windows.firstMark
  }
}
