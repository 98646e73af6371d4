package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** The frames of one key whose windows give panes: before they close, when they do, and after.
  *
  * The ring closes a window when it can change no more. What it is worth before that is found by
  * running a copy of the ring ahead. Used for one key after another: `begin` or `read`, then `add`,
  * `give`, `next` until it says no, then `write` unless it is empty.
  *
  *   - '''Guarantee:''' a window with rows gives one pane on time; an early or late one only when rows
  *     have come since its last pane. Panes are counted from 0 for each window.
  *   - '''Units:''' frame numbers.
  *   - '''Edges:''' a window whose rows all came after its end, gives late panes only.
  *   - '''Restart:''' `write` and `read` keep all of it; the record has a version.
  *   - '''Source:''' Flink's allowed lateness, Beam's panes.
  *
  * @param discards whether a pane has only the rows since the last one of its window
  */
final class PanedRing(
    shape: WindowShape,
    buffers: Buffers,
    newRing: FrameArchive => FrameRing,
    archive: FrameArchive,
    discards: Boolean
) {
  private val ring = newRing(archive)
  private val overlay = new ArchiveOverlay(archive)
  private val ahead = newRing(overlay)
  private val copied = new ByteSink
  private val copy = new ByteSource

  private val sinceEarly = new FrameList // frames with rows since early panes were given
  private val sinceGiven = new FrameList // frames with rows since any were
  private val counts = new FrameList // ends of windows, with how many panes they have given

  private var boundaries = PaneBoundaries(0, 0, 0)
  private var early: EarlyPanes = EarlyPanes.Never
  private var running: FrameRing = ring
  private var sum = PanedRing.NoBuffer // of the rows of a pane that discards
  private var paneCount = 0
  private var paneTiming: PaneTiming = PaneTiming.OnTime

  def begin(boundary: Long): Unit = {
    ring.begin(boundary)
    Seq(sinceEarly, sinceGiven, counts).foreach(_.clear())
    sum = PanedRing.NoBuffer
  }

  def isEmpty: Boolean = ring.isEmpty

  /** As of `FrameRing`. */
  def skipTo(boundary: Long): Unit = ring.skipTo(boundary)

  /** Whether rows have come since early panes were given. */
  def hasChanged: Boolean = !sinceEarly.isEmpty

  /** Adds what is in `buffer`, which stays the caller's, to a frame; false when it is too late. */
  def add(frame: Long, buffer: Int): Boolean = {
    val open = ring.add(frame, buffer)
    if (open) {
      note(sinceEarly, frame, buffer)
      note(sinceGiven, frame, buffer)
    }
    open
  }

  private def note(frames: FrameList, frame: Long, buffer: Int): Unit =
    if (discards) frames.merge(frame, buffer, buffers)
    else {
      val i = frames.floor(frame)
      if (i < 0 || frames.frame(i) < frame) frames.insert(i + 1, frame, PanedRing.NoBuffer)
    }

  /** Begins to give what is due at `boundaries`, and early panes as `early` says. */
  def give(boundaries: PaneBoundaries, early: EarlyPanes): Unit = {
    this.boundaries = boundaries
    this.early = early
    running = ring
  }

  /** Turns to the next pane; false when all have been given. */
  def next(): Boolean = {
    leaveResult()
    var found = false
    while (!found && step()) found = isGiven
    if (!found) settle()
    found
  }

  // First the ring itself, whose windows change no more; then its copy, as far as it is asked for.
  private def step(): Boolean =
    if (running eq ring) ring.next(boundaries.last) || (hasMore && { runAhead(); step() })
    else ahead.next(if (early.isDue) FrameRing.Never else boundaries.closing)

  private def hasMore: Boolean = !ring.isEmpty &&
    ((early.isDue && hasChanged) ||
      !sinceGiven.isEmpty && boundaries.passed > boundaries.last ||
      ring.dueAfter(boundaries.passed) <= boundaries.closing)

  private def runAhead(): Unit = {
    copied.reset(0)
    ring.write(copied)
    copy.reset(copied.bytes, 0)
    overlay.clear()
    ahead.read(copy)
    running = ahead
  }

  private def isGiven: Boolean = {
    val end = running.end
    paneTiming = timingOf(end)
    val gives = paneTiming match {
      case PaneTiming.Late => holds(sinceGiven, end)
      case PaneTiming.Early => holds(sinceEarly, end) && early.holds(running.result)
      case PaneTiming.OnTime => true
    }
    count(end, gives)
    gives
  }

  private def timingOf(end: Long): PaneTiming =
    if (end <= boundaries.passed) PaneTiming.Late
    else if (end <= boundaries.closing) PaneTiming.OnTime
    else PaneTiming.Early

  private def holds(frames: FrameList, end: Long): Boolean = {
    val i = frames.floor(end - 1)
    i >= 0 && frames.frame(i) >= shape.start(end)
  }

  private def count(end: Long, gives: Boolean): Unit = {
    val i = counts.floor(end)
    val known = i >= 0 && counts.frame(i) == end
    paneCount = if (known) counts.buffer(i) else 0
    if (isLast) { if (known) counts.remove(i) }
    else if (gives && known) counts.set(i, paneCount + 1)
    else if (gives) counts.insert(i + 1, end, 1)
  }

  /** The end of the pane's window. */
  def end: Long = running.end

  /** How many panes its window has given before. */
  def index: Int = paneCount

  def timing: PaneTiming = paneTiming

  /** Whether its window can change no more. */
  def isLast: Boolean = running eq ring

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
    if (isEmpty) FrameRing.Never
    else math.min(ring.dueAfter(boundaries.closing), ring.due + lateness)

  def write(out: ByteSink): Unit = {
    out.putByte(PanedRing.Version)
    ring.write(out)
    if (discards) sinceEarly.write(out, buffers) else sinceEarly.writeFrames(out)
    counts.writeFrames(out)
    var i = 0
    while (i < counts.size) {
      out.putCount(counts.buffer(i).toLong)
      i += 1
    }
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the panes of a key", PanedRing.Version)
    ring.read(in)
    sum = PanedRing.NoBuffer
    sinceGiven.clear()
    if (discards) sinceEarly.read(in, buffers) else sinceEarly.readFrames(in)
    counts.readFrames(in)
    var i = 0
    while (i < counts.size) {
      counts.set(i, in.getCount().toInt)
      i += 1
    }
  }
}

private object PanedRing {
  private val Version = 1
  private val NoBuffer = -1
}
