package io.eventtide.kernel.watermark

/** One look at all substreams: the lowest of the active ones, or the highest when none is.
  *
  *   - '''Guarantee:''' the order in which substreams are added does not matter.
  *   - '''Edges:''' nothing is known while an active one has no watermark. When none is active, the
  *     highest watermark that any ever had counts, of one that has left too.
  *   - '''Restart:''' nothing to save; cleared before each look, so that looking allocates nothing.
  */
private[watermark] final class MinActiveWatermark {
  private var activeOnes = 0
  private var complete = true // no active one is without a watermark
  private var lowest = Long.MaxValue // unread while no active one was added
  private var any = false // one has a watermark, or had when it left
  private var highest = Long.MinValue // unread while `any` is false

  def clear(left: MonotonicMax): Unit = {
    activeOnes = 0
    complete = true
    lowest = Long.MaxValue
    any = left.known
    highest = if (left.known) left.value else Long.MinValue
  }

  def add(substream: Substream): Unit =
    add(substream.idle, substream.known, substream.watermark)

  /** Adds one by what is to be known of it; its watermark is unread while it is not `known`. */
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
