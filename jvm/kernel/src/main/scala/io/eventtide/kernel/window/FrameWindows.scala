package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** The time windows of one key, made of frames; see `FrameWindowState` for their storage.
  *
  *   - '''Restart:''' the record has a version.
  */
final class FrameWindows(spec: WindowSpec, ring: FrameWindowState) extends WindowSet {
  private val counts = new PaneCounts
  private var lateBelow = Long.MinValue
  private var lastFrame = 0L

  def begin(): Unit = {
    counts.clear()
    ring.begin(Long.MinValue)
  }

  def judgeBy(watermark: Option[Long]): Unit = {
    lateBelow = watermark.fold(Long.MinValue)(spec.lateBelow)
    watermark.foreach(reached => ring.advanceTo(spec.closed(reached)))
  }

  def add(ts: Long, buffer: Int): Boolean = {
    lastFrame = spec.frames.index(ts)
    ts >= lateBelow && ring.add(lastFrame, buffer)
  }

  def mark: Long = spec.grid.start(lastFrame)

  def apart: Long = 1

  def isOpen(mark: Long): Boolean = spec.shape.lastEnd(spec.grid.index(mark)) > ring.closed

  def next(watermark: Long): Boolean = ring.next(spec.closed(watermark))

  def nextOfAll(): Boolean = {
    val found = ring.next(FrameWindowState.Never)
    if (!found) ring.begin(Long.MinValue)
    found
  }

  def start: Long = spec.grid.start(spec.shape.start(ring.end))
  def end: Long = spec.grid.start(ring.end)
  def result: Int = ring.result

  def index: Int = counts(ring.end)

  def count(start: Long, end: Long): Unit = {
    val boundary = spec.grid.index(end)
    counts(boundary) = counts(boundary) + 1
  }

  def forget(watermark: Long): Unit = counts.forget(spec.closed(watermark))

  def isEmpty: Boolean = ring.isEmpty

  def due: Long =
    if (ring.due == FrameWindowState.Never) WindowSet.Never
    else spec.closesAt(ring.due)

  def write(out: ByteSink): Unit = {
    out.putByte(FrameWindows.Version)
    counts.write(out)
    out.putByte(if (isEmpty) 0 else 1)
    if (!isEmpty) ring.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the windows of a key", FrameWindows.Version)
    counts.read(in)
    if (in.getByte() == 0) ring.begin(Long.MinValue) else ring.read(in)
  }
}

private object FrameWindows {
  private val Version = 1
}
