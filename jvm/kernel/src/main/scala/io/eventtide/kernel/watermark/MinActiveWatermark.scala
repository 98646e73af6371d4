package io.eventtide.kernel.watermark

/** One pass over all substreams: the lowest active watermark, or the highest of all if no substream
  * is active.
  *
  *   - '''Guarantee:''' the order in which substreams are added does not matter.
  *   - '''Edges:''' unknown while an active substream has no watermark. If no substream is active,
  *     the highest watermark of any substream counts, including removed substreams.
  *   - '''Restart:''' nothing to save; cleared before each pass, so that a pass allocates nothing.
  */
private[watermark] final class MinActiveWatermark {
  private var activeOnes = 0
  private var complete = true // every active substream has a watermark
  private var lowest = Long.MaxValue // not read while no active substream was added
  private var any = false // a substream has a watermark, or a removed one had
  private var highest = Long.MinValue // not read while `any` is false

  def clear(highestRemoved: MonotonicMax): Unit = {
    activeOnes = 0
    complete = true
    lowest = Long.MaxValue
    any = highestRemoved.known
    highest = if (highestRemoved.known) highestRemoved.value else Long.MinValue
  }

  def add(substream: Substream): Unit =
    add(substream.idle, substream.known, substream.watermark)

  /** Adds a substream by its state; `watermark` is not read unless it is `known`. */
  def add(idle: Boolean, known: Boolean, watermark: Long): Unit = {
    if (!idle) activeOnes += 1
    if (known) {
      if (!idle) lowest = Math.min(lowest, watermark)
      any = true
      highest = Math.max(highest, watermark)
    } else if (!idle) complete = false
  }

  def active: Int = activeOnes

  def known: Boolean = if (activeOnes == 0) any else complete

  /** Read it only when `known`. */
  def value: Long = if (activeOnes == 0) highest else lowest
}
