package io.eventtide.kernel.window

import io.eventtide.kernel.{InvalidArgument, StateVersion}

/** Which rows make a window, by their number.
  *
  *   - '''Guarantee:''' a window ends with every `slide`-th row of a key and has its last `size` rows, or
  *     as many as there have been.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' VoltSP's count windows, Flink's `countWindow`.
  *
  * @param size rows of a window, one or more
  * @param slide rows from the end of one to the end of the next, from one to `size`
  */
final case class CountSpec(size: Int, slide: Int) {
  if (size < 1 || size > WindowShape.MostFrames)
    throw new InvalidArgument("rows of a window", size, s"from 1 to ${WindowShape.MostFrames}")
  if (slide < 1 || slide > size)
    throw new InvalidArgument("rows of a slide", slide, s"from 1 to the $size of the window")

  /** Rows of a frame: windows start and end with one. */
  val frame: Int = BigInt(size).gcd(slide).toInt

  val shape: WindowShape = Sliding(size / frame)
}

/** The windows of a key that have so many rows, in the order in which they are added.
  *
  * Their times do not matter: none is late. What a window starts and ends with are numbers of rows,
  * the key's first being 0.
  *
  *   - '''Edges:''' when all that is held is given, which is a last window if there are rows that have
  *     been in none, the windows after it begin anew.
  *   - '''Restart:''' the record has a version.
  */
final class CountWindows(spec: CountSpec, ring: FrameWindowState) extends WindowSet {
  private val framesOfSlide = spec.slide / spec.frame
  private var base = 0L // the row with which these windows began
  private var rows = 0L // since then
  private var isFlushing = false
  private val counts = new PaneCounts

  def begin(): Unit = {
    counts.clear()
    base = 0
    restart()
  }

  private def restart(): Unit = {
    rows = 0
    isFlushing = false
    ring.begin(0)
  }

  def judgeBy(watermark: Option[Long]): Unit = ()

  def add(ts: Long, buffer: Int): Boolean = {
    ring.add(rows / spec.frame, buffer): Unit
    rows += 1
    true
  }

  def mark: Long = base + (rows - 1) / spec.frame * spec.frame

  def apart: Long = 1

  def isOpen(mark: Long): Boolean = spec.shape.lastEnd((mark - base) / spec.frame) > ring.closed

  def next(watermark: Long): Boolean = nextSlide(lastSlide)

  /** Turns to the next window that ends with a slide, up to this one. */
  private def nextSlide(last: Long): Boolean = {
    var found = ring.next(last)
    while (found && ring.end % framesOfSlide != 0) found = ring.next(last)
    found
  }

  // Its frame; what ends between two slides is left to the last window.
  private def lastSlide: Long = rows / spec.slide * framesOfSlide

  def nextOfAll(): Boolean =
    if (isFlushing) {
      ring.next(FrameWindowState.Never): Unit // gives back what the last window had
      base += rows
      restart()
      false
    } else
      next(WindowSet.Never) || {
        isFlushing = true
        flush() || nextOfAll()
      }

  /** Turns to the window that the next slide would end, as far as it is filled. */
  private def flush(): Boolean =
    rows % spec.slide != 0 && nextSlide(lastSlide + framesOfSlide)

  def start: Long = base + math.max(0, spec.shape.start(ring.end)) * spec.frame
  def end: Long = base + math.min(rows, ring.end * spec.frame)
  def result: Int = ring.result

  def index: Int = counts(end)

  def count(start: Long, end: Long): Unit = counts(end) = counts(end) + 1

  def forget(watermark: Long): Unit = counts.forget(base + lastSlide * spec.frame)

  def isEmpty: Boolean = ring.isEmpty

  def due: Long = WindowSet.Never

  def write(out: ByteSink): Unit = {
    out.putByte(CountWindows.Version)
    counts.write(out)
    out.putCount(base)
    out.putCount(rows)
    ring.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the counted windows of a key", CountWindows.Version)
    counts.read(in)
    base = in.getCount()
    rows = in.getCount()
    isFlushing = false
    ring.read(in)
  }
}

private object CountWindows {
  private val Version = 1
}
