package io.eventtide.kernel.window

/** The closed frames of one key whose windows may still change.
  *
  * A row for a closed frame updates the closed windows that contain it. Their results come from a
  * window state over the frames around the changed frames.
  *
  *   - '''Source:''' Flink's allowed lateness.
  *
  * @param state the windows that are not closed; their frames are added as they close
  */
private[window] final class FrameHistory(
    shape: WindowShape,
    buffers: Buffers,
    archive: FrameArchive,
    state: FrameWindowState,
    copy: FrameStateCopy
) {
  private val frames = new FrameQueue(buffers, archive.blocks, archive.blockSize)
  private val changed = new FrameList // frames with rows of this batch
  private var windows: FrameWindowState = _ // null before the first window
  private var until = 0L
  state.keepIn(frames)

  /** Begins a key without state. */
  def begin(): Unit = {
    frames.clear()
    beginBatch()
  }

  def beginBatch(): Unit = {
    changed.clear()
    windows = null
  }

  def isEmpty: Boolean = frames.isEmpty

  /** The end of the window that is evicted next; requires frames. */
  def firstEnd: Long = shape.lastEnd(frames.first)

  /** Adds a row of this batch to a closed frame. */
  def add(frame: Long, buffer: Int): Unit = {
    frames.add(frame, buffer)
    changed.put(frame, FrameHistory.NoBuffer)
  }

  /** The state whose current window is the window of `nextUpdate` or `nextShown`. */
  def current: FrameWindowState = windows

  /** Moves to the next closed window with rows of this batch; returns false if there is none.
    *
    * @param evicted boundary up to which windows can no longer change
    */
  def nextUpdate(evicted: Long): Boolean = !changed.isEmpty && {
    if (windows == null)
      over(
        math.max(evicted, changed.first),
        math.min(state.closed, shape.lastEnd(changed.last))
      )
    var found = windows.next(until)
    while (found && !hasChanged) found = windows.next(until)
    found
  }

  private def hasChanged: Boolean = changed.hasIn(shape.start(windows.end), windows.end)

  /** Moves to the next closed window that can still change; returns false after the last. */
  def nextShown(evicted: Long): Boolean = !frames.isEmpty && {
    if (windows == null) over(evicted, state.closed)
    windows.next(until)
  }

  /** Begins with the windows that end above `from` and at most at `end`. */
  private def over(from: Long, end: Long): Unit = {
    until = end
    windows = copy.empty(from)
    frames.foreach(shape.startAfter(from), end)((frame, buffer) => windows.add(frame, buffer): Unit)
  }

  /** Evicts the frames whose windows all end at or before `boundary`. */
  def evict(boundary: Long): Unit =
    while (!frames.isEmpty && firstEnd <= boundary) buffers.release(frames.takeFirst())

  def write(out: ByteSink): Unit = frames.write(out)

  def read(in: ByteSource): Unit = {
    beginBatch()
    frames.read(in)
  }
}

private object FrameHistory {
  private val NoBuffer = -1
}
