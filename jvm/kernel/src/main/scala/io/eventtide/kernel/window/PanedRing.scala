package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** The frames of one key whose windows give panes: before they close, when they do, and after.
  *
  * The ring closes a window when it is on time. What it is worth before that is found by running a
  * copy of the ring ahead; after that, by running another one over the frames about those that have
  * changed, which are kept for as long as a window with them may change. Used for one key after
  * another: `begin` or `read`, then `add`, `give`, `next` until it says no, then `write` unless it is
  * empty.
  *
  *   - '''Guarantee:''' a window with rows gives one pane on time; an early or late one only when rows
  *     have come since its last pane. Panes are counted from 0 for each window.
  *   - '''Units:''' frame numbers.
  *   - '''Edges:''' a window whose rows all came after its end, gives late panes only.
  *   - '''Restart:''' `write` and `read` keep all of it; the record has a version.
  *   - '''Source:''' Flink's allowed lateness, Beam's panes.
  *
  * @param givesEarly whether windows may give panes before they close
  * @param discards whether a pane has only the rows since the last one of its window
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
  private val other = newRing(overlay) // not saved: what windows are worth at another time
  private val copied = new ByteSink
  private val copy = new ByteSource

  private val sinceEarly = new FrameList // frames with rows since early panes were given
  private val sinceGiven = new FrameList // frames with rows since any were
  private val counts = new PaneCounts

  // Closed frames with windows that may change: those that end above `done`.
  private val history =
    new FrameQueue(buffers, archives.closed.getOrElse(BlockStore.None), PanedRing.BlockSize)
  archives.closed.foreach(_ => ring.keepIn(history))
  private var done = 0L

  private var boundaries = PaneBoundaries(0, 0, 0)
  private var early: EarlyPanes = EarlyPanes.Never
  private var running: FrameWindowState = ring
  private var phase: PaneTiming.ByWatermark = PaneTiming.OnTime
  private var changedUpTo = 0L // the last window that may be late
  private var sum = PanedRing.NoBuffer // of the rows of a pane that discards
  private var paneCount = 0
  private var paneTiming: PaneTiming.ByWatermark = PaneTiming.OnTime

  /** Begins a key that has no state: what ends at `closed` has closed, at `last` for good. */
  def begin(closed: Long, last: Long): Unit = {
    ring.begin(closed)
    done = last
    history.clear()
    counts.clear()
    Seq(sinceEarly, sinceGiven).foreach(_.clear())
    sum = PanedRing.NoBuffer
  }

  def isEmpty: Boolean = ring.isEmpty && history.isEmpty

  /** As of `FrameWindowState`. */
  def advanceTo(closed: Long, last: Long): Unit = {
    ring.advanceTo(closed)
    done = math.max(done, last)
  }

  /** Whether rows have come since early panes were given. */
  def hasChanged: Boolean = !sinceEarly.isEmpty

  /** Adds what is in `buffer`, which stays the caller's, to a frame; false when it is too late. */
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

  /** Begins to give what is due at `boundaries`, and early panes as `early` says. */
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

  /** Begins with the windows that have closed and end above `from`, up to `until`. */
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

  /** Turns to the next pane; false when all have been given. */
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

  /** How many panes its window has given before. */
  def index: Int = paneCount

  def timing: PaneTiming = paneTiming

  /** Whether its window can change no more. */
  def isLast: Boolean = end <= boundaries.last

  /** The rows of the pane as one buffer, good until the next call of `next`. */
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

  /** When this key next owes a pane on time, or has something to forget.
    *
    * @param lateness so many boundaries after a window's end it is forgotten, at the latest
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
