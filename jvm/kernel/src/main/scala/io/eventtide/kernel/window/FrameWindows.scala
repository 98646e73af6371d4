package io.eventtide.kernel.window

/** Windows of frames of one key, by the times of its rows; see `FrameRing` for how they are kept.
  *
  *   - '''Restart:''' the ring's record.
  */
final class FrameWindows(spec: WindowSpec, ring: FrameRing) extends OpenWindows {
  private var lateBelow = Long.MinValue

  def begin(): Unit = ring.begin(Long.MinValue)

  def judgeBy(watermark: Option[Long]): Unit = {
    lateBelow = watermark.fold(Long.MinValue)(spec.lateBelow)
    watermark.foreach(reached => ring.skipTo(spec.closed(reached)))
  }

  def add(ts: Long, buffer: Int): Boolean =
    ts >= lateBelow && ring.add(spec.frames.index(ts), buffer)

  def next(watermark: Long): Boolean = ring.next(spec.closed(watermark))

  def nextOfAll(): Boolean = ring.next(FrameRing.Never)

  def start: Long = spec.grid.start(spec.shape.start(ring.end))
  def end: Long = spec.grid.start(ring.end)
  def result: Int = ring.result

  def isEmpty: Boolean = ring.isEmpty

  def closed(watermark: Long): Long = spec.grid.start(spec.closed(watermark))

  def due: Long =
    if (ring.due == FrameRing.Never) OpenWindows.Never
    else spec.closesAt(ring.due)

  def write(out: ByteSink): Unit = ring.write(out)

  def read(in: ByteSource): Unit = ring.read(in)
}
