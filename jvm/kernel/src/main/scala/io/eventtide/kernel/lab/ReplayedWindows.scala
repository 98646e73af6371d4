package io.eventtide.kernel.lab

import java.util.{TreeMap => JTreeMap}

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.window.{Sliding, WindowSpec}

/** The windows of a query whose rows are replayed: which are open, what they hold, and how long their
  * results take.
  *
  *   - '''Guarantee:''' a window is open from its first row on time until it closes, and closes once. The
  *     caller adds no late rows.
  *   - '''Units:''' the unit of the grid, for watermarks and for the clock.
  *   - '''Edges:''' a row whose first windows have closed opens only the others.
  *   - '''Restart:''' none; a replay is not continued.
  *
  * @param spec windows that end at every boundary
  */
final class ReplayedWindows(spec: WindowSpec) {
  import spec.shape

  shape match {
    case Sliding(_, every, _, _) if every > 1 =>
      throw new InvalidArgument(
        "frames of a slide",
        every,
        "1: a window that ends at each boundary"
      )
    case _ => ()
  }

  private val keys = new JTreeMap[Long, Long] // of the frames with open windows
  private var closedUpTo = Long.MinValue
  private var heldKeys = 0L
  private var openNow = 0L
  private var openMost = 0L
  private var framesMost = 0L
  private var keysMost = 0L

  /** The delays of the results: the clock at which a window closed, minus its end. */
  val delays = new Delays

  /** The number of windows that are open, and the highest number so far. */
  def open: Long = openNow
  def mostOpen: Long = openMost

  /** The highest number of frames that were held at once; `mostKeys` counts a frame for each key. */
  def mostFrames: Long = framesMost
  def mostKeys: Long = keysMost

  /** Adds rows on time of a frame, `more` keys of which it does not have yet. */
  def add(frame: Long, more: Long): Unit = {
    if (!keys.containsKey(frame)) openNow += opened(frame)
    keys.merge(frame, more, (one, others) => one + others)
    heldKeys += more
    openMost = math.max(openMost, openNow)
    framesMost = math.max(framesMost, keys.size.toLong)
    keysMost = math.max(keysMost, heldKeys)
  }

  // The windows of a frame end after it and up to `lastEnd`. Those that end above the next frame are
  // windows of that frame too, those that end at or below the last end of the frame before of that one.
  private def opened(frame: Long): Long = {
    val before = Option(keys.lowerEntry(frame)).map(entry => shape.lastEnd(entry.getKey))
    val next = Option(keys.higherEntry(frame)).map(_.getKey)
    val from = math.max(math.max(frame, closedUpTo), before.getOrElse(frame))
    val until = math.min(shape.lastEnd(frame), next.getOrElse(Long.MaxValue))
    math.max(0L, until - from)
  }

  /** The lowest watermark that closes a window; None if none is open. */
  def awaits: Option[Long] = Option.when(!keys.isEmpty)(spec.closesAt(nextEnd))

  private def nextEnd: Long = math.max(keys.firstKey, closedUpTo) + 1

  /** Closes the windows that a watermark closes, at a clock value. */
  def close(watermark: Long, now: Long): Unit = {
    val boundary = spec.closed(watermark)
    while (!keys.isEmpty && nextEnd <= boundary) {
      closedUpTo = nextEnd
      delays.add(now - spec.grid.start(closedUpTo))
      openNow -= 1
      drop()
    }
    closedUpTo = math.max(closedUpTo, boundary)
    drop()
  }

  private def drop(): Unit =
    while (!keys.isEmpty && shape.lastEnd(keys.firstKey) <= closedUpTo)
      heldKeys -= keys.pollFirstEntry().getValue
}
