package io.eventtide.kernel.window

/** The rows that were added to the windows of a key since some moment, by mark; see
  * `WindowSet.mark`.
  *
  *   - '''Restart:''' `write` and `read` keep all state.
  *
  * @param buffers where rows are aggregated by mark; None if only their number is needed
  */
private[window] final class ChangedMarks(buffers: Option[Buffers]) {
  private val pool = buffers.orNull
  private var marks = new Array[Long](4) // ascending
  private var rows = new Array[Int](4)
  private var contents = new Array[Int](4) // the aggregate of the rows; not used without `pool`
  private var size = 0

  def isEmpty: Boolean = size == 0

  /** Adds `count` rows whose windows `windows` has just updated. */
  def add(windows: WindowSet, count: Long, buffer: Int): Unit = {
    val mark = windows.mark
    if (windows.replaced != mark) move(windows.replaced, mark)
    val i = find(mark)
    if (i >= 0) {
      rows(i) = total(rows(i), count)
      if (pool != null) pool.merge(contents(i), buffer)
    } else
      insert(-i - 1, mark, total(0, count), if (pool == null) -1 else pool.copy(buffer))
  }

  private def find(mark: Long): Int = java.util.Arrays.binarySearch(marks, 0, size, mark)

  private def total(before: Int, count: Long): Int =
    math.min(before + count, Int.MaxValue.toLong).toInt

  private def insert(at: Int, mark: Long, count: Int, content: Int): Unit = {
    if (size == marks.length) grow(size * 2)
    System.arraycopy(marks, at, marks, at + 1, size - at)
    System.arraycopy(rows, at, rows, at + 1, size - at)
    System.arraycopy(contents, at, contents, at + 1, size - at)
    size += 1
    marks(at) = mark
    rows(at) = count
    contents(at) = content
  }

  private def grow(to: Int): Unit = {
    marks = java.util.Arrays.copyOf(marks, to)
    rows = java.util.Arrays.copyOf(rows, to)
    contents = java.util.Arrays.copyOf(contents, to)
  }

  private def move(from: Long, to: Long): Unit = {
    val i = find(from)
    if (i >= 0) {
      val (count, content) = (rows(i), contents(i))
      System.arraycopy(marks, i + 1, marks, i, size - i - 1)
      System.arraycopy(rows, i + 1, rows, i, size - i - 1)
      System.arraycopy(contents, i + 1, contents, i, size - i - 1)
      size -= 1
      addMoved(to, count, content)
    }
  }

  private def addMoved(to: Long, count: Int, content: Int): Unit = {
    val i = find(to)
    if (i < 0) insert(-i - 1, to, count, content)
    else {
      rows(i) = total(rows(i), count.toLong)
      if (pool != null) {
        pool.merge(contents(i), content)
        pool.release(content)
      }
    }
  }

  /** Whether the current window of `windows` has such rows. */
  def isIn(windows: WindowSet): Boolean = {
    val i = position(windows.firstMark)
    i < size && marks(i) < windows.endMark
  }

  /** A new buffer with these rows of the current window of `windows`. */
  def sum(windows: WindowSet): Int = {
    val all = pool.fresh()
    var i = position(windows.firstMark)
    while (i < size && marks(i) < windows.endMark) {
      pool.merge(all, contents(i))
      i += 1
    }
    all
  }

  /** The first position at or above a mark. */
  private def position(mark: Long): Int = {
    val i = find(mark)
    if (i >= 0) i else -i - 1
  }

  /** Adds all marks to `into`. */
  def copyTo(into: FrameList): Unit = copyTo(into, 0, size)

  private def copyTo(into: FrameList, from: Int, until: Int): Unit = {
    var i = from
    while (i < until) {
      into.append(marks(i), -1)
      i += 1
    }
  }

  /** Adds the marks of windows with at least `least` rows to `into`. Windows that share rows come
    * together.
    */
  def copyFull(least: Int, windows: WindowSet, into: FrameList): Unit = {
    var first = 0 // of windows that share rows
    var end = 0 // behind the last mark of the window that begins with mark `i`
    var count = 0L // rows of that window
    var isFull = false
    var i = 0
    while (i < size) {
      val after = windows.markAfter(marks(i))
      while (end < size && marks(end) < after) {
        count += rows(end)
        end += 1
      }
      isFull ||= count >= least
      count -= rows(i)
      i += 1
      if (i == end) { // no window has both this mark and the next one
        if (isFull) copyTo(into, first, i)
        first = i
        isFull = false
      }
    }
  }

  /** Removes the rows of these marks, which are some of its own. */
  def removeAll(some: FrameList): Unit =
    if (some.size == size) clear() else if (!some.isEmpty) filter(mark => !some.has(mark))

  /** Keeps the rows of the marks for which `holds` is true. */
  def filter(holds: Long => Boolean): Unit = {
    var kept = 0
    var i = 0
    while (i < size) {
      if (holds(marks(i))) {
        marks(kept) = marks(i)
        rows(kept) = rows(i)
        contents(kept) = contents(i)
        kept += 1
      } else if (pool != null) pool.release(contents(i))
      i += 1
    }
    size = kept
  }

  def clear(): Unit = if (size > 0) filter(_ => false)

  /** Begins another key, without rows; its buffers are not those of the key before. */
  def begin(): Unit = size = 0

  def write(out: ByteSink): Unit = {
    out.putCount(size.toLong)
    var before = 0L
    var i = 0
    while (i < size) {
      out.putNumber(marks(i) - before)
      before = marks(i)
      out.putCount(rows(i).toLong)
      if (pool != null) pool.write(contents(i), out)
      i += 1
    }
  }

  def read(in: ByteSource): Unit = {
    val count = in.getCount().toInt
    if (count > marks.length) grow(count)
    var before = 0L
    size = 0
    while (size < count) {
      before += in.getNumber()
      marks(size) = before
      rows(size) = in.getCount().toInt
      contents(size) = if (pool == null) -1 else pool.read(in)
      size += 1
    }
  }
}
