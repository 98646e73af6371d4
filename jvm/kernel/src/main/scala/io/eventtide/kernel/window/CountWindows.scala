package io.eventtide.kernel.window

import io.eventtide.kernel.{InvalidArgument, StateVersion}

/** Which rows belong to a count window, by their number.
  *
  *   - '''Guarantee:''' a window ends with every `slide`-th row of a key. It has the last `size`
  *     rows, or all rows if there are fewer.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' VoltSP's count windows, Flink's `countWindow`.
  *
  * @param size number of rows in a window, one or more
  * @param slide number of rows from the end of a window to the end of the next, from one to `size`
  */
final case class CountSpec(size: Int, slide: Int) {
  if (size < 1 || size > WindowShape.MostFrames)
    throw new InvalidArgument("rows of a window", size, s"from 1 to ${WindowShape.MostFrames}")
  if (slide < 1 || slide > size)
    throw new InvalidArgument("rows of a slide", slide, s"from 1 to the $size of the window")

  /** The number of rows in a frame; every window starts and ends at a frame boundary. */
  val frame: Int = BigInt(size).gcd(slide).toInt

  val shape: WindowShape = Sliding(size / frame)
}

/** The count windows of a key, over its rows in the order in which they are added.
  *
  * Event times are ignored, so no row is late. `start` and `end` are row numbers; the first row of
  * the key has number 0.
  *
  *   - '''Edges:''' `nextOfAll` emits the window that ends at the next slide, if it has rows
  *     that are in no other window; later windows do not have earlier rows.
  *   - '''Restart:''' the record has a version.
  */
final class CountWindows(spec: CountSpec, newState: () => FrameWindowState) extends WindowSet {
  private val state = newState()
  private val copy = new FrameStateCopy(newState)
  private var running = state // the state that has the current window
  private val framesOfSlide = spec.slide / spec.frame
  private var base = 0L // number of the first row of these windows
  private var rows = 0L // number of rows since `base`
  private var isFlushing = false
  private val counts = new PaneCounts

  def begin(): Unit = {
    counts.clear()
    base = 0
    copy.begin()
    restart()
  }

  private def restart(): Unit = {
    rows = 0
    isFlushing = false
    state.begin(0)
  }

  def beginBatch(watermark: Option[Long]): Unit = running = state

  def add(ts: Long, buffer: Int): Boolean = {
    state.add(rows / spec.frame, buffer): Unit
    rows += 1
    true
  }

  // Marks are frames.
  def mark: Long = (rows - 1) / spec.frame
  def markAfter(mark: Long): Long = spec.shape.lastEnd(mark) / framesOfSlide * framesOfSlide
  def isOpen(mark: Long): Boolean = markAfter(mark) > state.closed
  def firstMark: Long = spec.shape.start(running.end)
  def endMark: Long = running.end

  def next(watermark: Long): Boolean = {
    running = state
    nextSlide(lastSlide)
  }

  /** Moves to the next window that ends at a slide, up to frame boundary `last`. */
  private def nextSlide(last: Long): Boolean = {
    var found = running.next(last)
    while (found && running.end % framesOfSlide != 0) found = running.next(last)
    found
  }

  def nextOpen(): Boolean = {
    if (running eq state) running = copy.of(state)
    nextSlide(FrameWindowState.Never)
  }

  def nextShown(): Boolean = nextOpen()

  def isUpdate: Boolean = false
  def isFinal: Boolean = true

  // As a frame boundary. Only the last window has frames after it.
  private def lastSlide: Long = rows / spec.slide * framesOfSlide

  def nextOfAll(): Boolean =
    if (isFlushing) {
      state.next(FrameWindowState.Never): Unit // releases the result of the last window
      base += rows
      restart()
      false
    } else
      next(WindowSet.Never) || {
        isFlushing = true
        flush() || nextOfAll()
      }

  /** Moves to the incomplete window that would end at the next slide. */
  private def flush(): Boolean =
    rows % spec.slide != 0 && nextSlide(lastSlide + framesOfSlide)

  def start: Long = base + math.max(0, firstMark) * spec.frame
  def end: Long = base + math.min(rows, endMark * spec.frame)
  def result: Int = running.result

  // By the end of the window when it is full.
  def index: Int = counts(fullEnd)
  def count(): Unit = counts(fullEnd) = index + 1
  private def fullEnd: Long = base + endMark * spec.frame

  def settle(watermark: Option[Long]): Unit = {
    copy.release()
    counts.forget(base + lastSlide * spec.frame)
  }

  def release(): Unit = ()
  def hasUpdates: Boolean = false

  def isEmpty: Boolean = state.isEmpty
  def hasOpen: Boolean = !state.isEmpty
  def closesAt: Long = WindowSet.Never
  def due: Long = WindowSet.Never

  def write(out: ByteSink): Unit = {
    out.putByte(CountWindows.Version)
    counts.write(out)
    out.putCount(base)
    out.putCount(rows)
    state.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the counted windows of a key", CountWindows.Version)
    counts.read(in)
    copy.begin()
    base = in.getCount()
    rows = in.getCount()
    isFlushing = false
    state.read(in)
  }
}

private object CountWindows {
  private val Version = 1
}
