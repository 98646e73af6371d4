package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** Where the closed frames of a key are stored while their windows may still change.
  *
  * @param blockSize minimum number of frames in a block
  */
final case class FrameArchive(blocks: BlockStore, blockSize: Int)

object FrameArchive {

  /** For frames that stay in the record of their key. */
  val None: FrameArchive = FrameArchive(BlockStore.None, blockSize = Int.MaxValue)
}

/** The time windows of one key, made of frames; see `FrameWindowState` for their storage.
  *
  *   - '''Edges:''' a window whose rows all arrive after it closes is emitted as an update only. If
  *     idleness has closed windows that can still change, later rows update them immediately.
  *   - '''Restart:''' the record has a version.
  *   - '''Source:''' Flink's allowed lateness.
  *
  * @param spec the windows; its delay is the time from the end of a window until it can no longer
  *   change
  * @param lateness part of that delay in which a closed window still accepts rows
  * @param newState makes an empty state
  */
final class FrameWindows(
    spec: WindowSpec,
    buffers: Buffers,
    newState: () => FrameWindowState,
    archive: FrameArchive = FrameArchive.None,
    lateness: Long = 0
) extends WindowSet {
  private val shape = spec.shape
  private val closing = spec.copy(delay = spec.delay - lateness)
  private val state = newState()
  private val copy = new FrameStateCopy(newState)
  private val history: FrameHistory = // null if a closed window never changes
    if (lateness == 0) null
    else new FrameHistory(shape, buffers, archive, state, copy)
  private val counts = new PaneCounts

  private var lateBelow = Long.MinValue
  private var evicted = Long.MinValue // boundary up to which windows can no longer change
  private var lastFrame = 0L
  private var running = state // the state that has the current window
  private var isAhead = false // whether `running` is a copy that runs ahead of the watermark
  private var finalUpTo = Long.MinValue

  def begin(): Unit = {
    counts.clear()
    copy.begin()
    beginEmpty()
  }

  private def beginEmpty(): Unit = {
    state.begin(Long.MinValue)
    if (history != null) history.begin()
  }

  def beginBatch(watermark: Option[Long]): Unit = {
    lateBelow = watermark.fold(Long.MinValue)(spec.lateBelow)
    evicted = watermark.fold(Long.MinValue)(spec.closed)
    watermark.foreach(reached => state.advanceTo(closing.closed(reached)))
    if (history != null) history.beginBatch()
    running = state
    isAhead = false
  }

  def add(ts: Long, buffer: Int): Boolean = {
    lastFrame = spec.frames.index(ts)
    ts >= lateBelow && addTo(lastFrame, buffer)
  }

  private def addTo(frame: Long, buffer: Int): Boolean =
    if (history != null && frame < state.closed) {
      history.add(frame, buffer)
      state.add(frame, buffer): Unit // for the windows with this frame that are not closed
      true
    } else state.add(frame, buffer)

  def mark: Long = lastFrame
  def markAfter(mark: Long): Long = shape.lastEnd(mark)
  def isOpen(mark: Long): Boolean = shape.lastEnd(mark) > state.closed

  def next(watermark: Long): Boolean = {
    finalUpTo = spec.closed(watermark)
    nextUpdate() || {
      running = state
      state.next(closing.closed(watermark))
    }
  }

  private def nextUpdate(): Boolean = {
    val found = history != null && history.nextUpdate(evicted)
    if (found) running = history.current
    found
  }

  def nextOpen(): Boolean = {
    if (!isAhead) running = copy.of(state)
    isAhead = true
    running.next(FrameWindowState.Never)
  }

  def nextOfAll(): Boolean = {
    running = state
    val closed = state.closed
    val found = state.next(FrameWindowState.Never)
    if (!found) state.begin(if (history == null) Long.MinValue else closed)
    found
  }

  def nextShown(): Boolean = {
    val found = !isAhead && history != null && history.nextShown(evicted)
    if (found) running = history.current
    found || nextOpen()
  }

  def isUpdate: Boolean = !isAhead && (running ne state)
  def isFinal: Boolean = running.end <= finalUpTo

  def start: Long = spec.grid.start(shape.start(running.end))
  def end: Long = spec.grid.start(running.end)
  def firstMark: Long = shape.start(running.end)
  def endMark: Long = running.end
  def result: Int = running.result

  def index: Int = counts(running.end)
  def count(): Unit = counts(running.end) = index + 1

  def settle(watermark: Option[Long]): Unit = {
    copy.release()
    watermark.foreach { reached =>
      val boundary = spec.closed(reached)
      if (history != null) history.evict(boundary)
      counts.forget(boundary)
    }
  }

  def release(): Unit = if (history != null) history.evict(Long.MaxValue)
  def hasUpdates: Boolean = history != null

  def isEmpty: Boolean = state.isEmpty && (history == null || history.isEmpty)
  def hasOpen: Boolean = !state.isEmpty

  def closesAt: Long =
    if (state.due == FrameWindowState.Never) WindowSet.Never else closing.closesAt(state.due)

  def due: Long =
    if (history == null || history.isEmpty) closesAt
    else math.min(closesAt, spec.closesAt(history.firstEnd))

  def write(out: ByteSink): Unit = {
    out.putByte(FrameWindows.Version)
    counts.write(out)
    out.putByte(if (isEmpty) 0 else 1)
    if (!isEmpty) {
      state.write(out)
      if (history != null) history.write(out)
    }
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the windows of a key", FrameWindows.Version)
    counts.read(in)
    copy.begin()
    if (in.getByte() == 0) beginEmpty()
    else {
      state.read(in)
      if (history != null) history.read(in)
    }
  }
}

private object FrameWindows {
  private val Version = 2
}
