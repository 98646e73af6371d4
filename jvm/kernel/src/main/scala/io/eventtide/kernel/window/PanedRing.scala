package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** The frames of one key whose windows emit early, on-time and late panes.
  *
  * The ring closes a window when it is on time. Early results come from a copy of the ring that
  * runs ahead. Late results come from another ring, which runs over the frames around the changed
  * frames; these frames are retained as long as a window with them may change. The instance is
  * reused for one key after another: `begin` or `read`, then `add`, `give`, `next` until it returns
  * false, then `write` unless it is empty.
  *
  *   - '''Guarantee:''' a window with rows emits one on-time pane. It emits an early or late pane
  *     only if rows have arrived since its last pane. Panes are counted from 0 for each window.
  *   - '''Units:''' frame numbers.
  *   - '''Edges:''' a window whose rows all arrive after it closes emits late panes only.
  *   - '''Restart:''' `write` and `read` keep all state; the record has a version.
  *   - '''Source:''' Flink's allowed lateness, Beam's panes.
  *
  * @param givesEarly whether windows may emit panes before they close
  * @param discards whether a pane has only the rows since the last pane of its window
  */
final class PanedRing(
    shape: WindowShape,
    buffers: Buffers,
    newRing: BlockStore => FrameWindowState,
    archives: PaneArchives,
    givesEarly: Boolean,
    discards: Boolean
) {
  private val ring = newRing(archives.open)
  private val overlay = new CopyOnWriteBlockStore(archives.open)
  private val other = newRing(overlay) // not saved: computes early and late results
  private val copied = new ByteSink
  private val copy = new ByteSource

  private val sinceEarly = new FrameList // frames with rows since the last early panes
  private val sinceGiven = new FrameList // frames with rows since the last panes of any timing
  private val counts = new PaneCounts

  // Closed frames with windows that may still change: windows that end above `done`.
  private val history =
    new FrameQueue(buffers, archives.closed.getOrElse(BlockStore.None), PanedRing.BlockSize)
  archives.closed.foreach(_ => ring.keepIn(history))
  private var done = 0L

  private var boundaries = PaneBoundaries(0, 0, 0)
  private var early: EarlyPanes = EarlyPanes.Never
  private var running: FrameWindowState = ring
  private var phase: PaneTiming.ByWatermark = PaneTiming.OnTime
  private var changedUpTo = 0L // end of the last window that may emit a late pane
  private var sum = PanedRing.NoBuffer // result of a pane, if `discards`
  private var paneCount = 0
  private var paneTiming: PaneTiming.ByWatermark = PaneTiming.OnTime

  /** Begins a key without state.
    *
    * @param closed last boundary whose windows are closed
    * @param last last boundary whose windows can no longer change
    */
  def begin(closed: Long, last: Long): Unit = {
    ring.begin(closed)
    done = last
    history.clear()
    counts.clear()
    Seq(sinceEarly, sinceGiven).foreach(_.clear())
    sum = PanedRing.NoBuffer
  }

  def isEmpty: Boolean = ring.isEmpty && history.isEmpty

  /** As `FrameWindowState.advanceTo`. */
  def advanceTo(closed: Long, last: Long): Unit = {
    ring.advanceTo(closed)
    done = math.max(done, last)
  }

  /** Whether rows have arrived since the last early panes. */
  def hasChanged: Boolean = !sinceEarly.isEmpty

  /** Merges `buffer`, which the caller keeps, into a frame; returns false if it is too late. */
  def add(frame: Long, buffer: Int): Boolean = {
    val open = shape.lastEnd(frame) > done
    if (open) {
      if (frame < ring.closed && archives.closed.isDefined) history.add(frame, buffer)
      ring.add(frame, buffer): Unit
      if (givesEarly || discards) note(sinceEarly, frame, buffer)
      note(sinceGiven, frame, buffer)
    }
    open
  }

  private def note(frames: FrameList, frame: Long, buffer: Int): Unit =
    if (discards) frames.merge(frame, buffer, buffers)
    else frames.put(frame, PanedRing.NoBuffer)

  /** Begins to emit the panes for `boundaries`, and the early panes that `early` allows. */
  def give(boundaries: PaneBoundaries, early: EarlyPanes): Unit = {
    this.boundaries = boundaries
    this.early = early
    running = ring
    phase = PaneTiming.OnTime
    if (boundaries.passed < ring.closed) runOver(done, ring.closed)
    else if (!sinceGiven.isEmpty && sinceGiven.first < ring.closed) {
      val last = sinceGiven.frame(sinceGiven.floor(ring.closed - 1))
      runOver(math.max(done, sinceGiven.first), math.min(ring.closed, shape.lastEnd(last)))
    }
  }

  /** Begins with the late panes of closed windows that end above `from` and at most at `until`. */
  private def runOver(from: Long, until: Long): Unit = {
    overlay.clear()
    other.begin(from)
    history.foreach(shape.startAfter(from), until)((frame, buffer) =>
      other.add(frame, buffer): Unit
    )
    running = other
    phase = PaneTiming.Late
    changedUpTo = until
  }

  /** Moves to the next pane; returns false if there is none. */
  def next(): Boolean = {
    leaveResult()
    var found = false
    while (!found && step()) found = isGiven
    if (!found) settle()
    found
  }

  private def step(): Boolean = phase match {
    case PaneTiming.Late => other.next(changedUpTo) || { runRing(); step() }
    case PaneTiming.OnTime => ring.next(boundaries.closing) || (hasMore && { runAhead(); step() })
    case PaneTiming.Early => other.next(FrameWindowState.Never)
  }

  private def runRing(): Unit = {
    running = ring
    phase = PaneTiming.OnTime
  }

  private def hasMore: Boolean = early.isDue && hasChanged && !ring.isEmpty

  private def runAhead(): Unit = {
    copied.reset(0)
    ring.write(copied)
    copy.reset(copied.bytes, 0)
    overlay.clear()
    other.read(copy)
    running = other
    phase = PaneTiming.Early
  }

  private def isGiven: Boolean = {
    val end = running.end
    paneTiming = timingOf(end)
    val gives = paneTiming match {
      case PaneTiming.Late => holds(sinceGiven, end)
      case PaneTiming.Early => holds(sinceEarly, end) && early.holds(running.result)
      case PaneTiming.OnTime => true
    }
    paneCount = counts(end)
    if (gives && !isLast) counts(end) = paneCount + 1
    gives
  }

  private def timingOf(end: Long): PaneTiming.ByWatermark =
    if (end <= boundaries.passed) PaneTiming.Late
    else if (end <= boundaries.closing) PaneTiming.OnTime
    else PaneTiming.Early

  private def holds(frames: FrameList, end: Long): Boolean = {
    val i = frames.floor(end - 1)
    i >= 0 && frames.frame(i) >= shape.start(end)
  }

  /** The end of the pane's window. */
  def end: Long = running.end

  /** The number of earlier panes of the window. */
  def index: Int = paneCount

  def timing: PaneTiming = paneTiming

  /** Whether the window can no longer change. */
  def isLast: Boolean = end <= boundaries.last

  /** The rows of the pane as one buffer, valid until the next call of `next`. */
  def result: Int =
    if (!discards) running.result
    else {
      if (sum == PanedRing.NoBuffer)
        sum = sumOf(if (paneTiming == PaneTiming.Late) sinceGiven else sinceEarly)
      sum
    }

  private def leaveResult(): Unit = if (sum != PanedRing.NoBuffer) {
    buffers.release(sum)
    sum = PanedRing.NoBuffer
  }

  private def sumOf(frames: FrameList): Int = {
    val all = buffers.fresh()
    val first = shape.start(end)
    var i = frames.floor(end - 1)
    while (i >= 0 && frames.frame(i) >= first) {
      buffers.merge(all, frames.buffer(i))
      i -= 1
    }
    all
  }

  private def settle(): Unit = {
    done = math.max(done, boundaries.last)
    while (!history.isEmpty && shape.lastEnd(history.first) <= done)
      buffers.release(history.takeFirst())
    counts.forget(done)
    while (!sinceGiven.isEmpty) dropFirst(sinceGiven)
    while (!sinceEarly.isEmpty && (early.isDue || hasClosed(sinceEarly.first)))
      dropFirst(sinceEarly)
  }

  private def hasClosed(frame: Long): Boolean = shape.lastEnd(frame) <= boundaries.closing

  private def dropFirst(frames: FrameList): Unit =
    if (discards) frames.releaseFirst(buffers) else frames.dropFirst()

  /** The next boundary at which the key emits an on-time pane or purges frames.
    *
    * @param lateness number of boundaries after its end at which a window is purged at the latest
    */
  def due(lateness: Long): Long =
    if (history.isEmpty) ring.due
    else math.min(ring.due, Clamped.add(shape.lastEnd(history.first), lateness))

  def write(out: ByteSink): Unit = {
    out.putByte(PanedRing.Version)
    out.putNumber(done)
    ring.write(out)
    history.write(out)
    if (discards) sinceEarly.write(out, buffers) else sinceEarly.writeFrames(out)
    counts.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the panes of a key", PanedRing.Version)
    done = in.getNumber()
    ring.read(in)
    history.read(in)
    sum = PanedRing.NoBuffer
    sinceGiven.clear()
    if (discards) sinceEarly.read(in, buffers) else sinceEarly.readFrames(in)
    counts.read(in)
  }
}

private object PanedRing {
  private val Version = 1
  private val NoBuffer = -1
  private val BlockSize = 8
}
