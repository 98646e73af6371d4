package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

/** The way out of a combination of substreams: their lowest watermark, and the throttle behind it.
  *
  *   - '''Guarantee:''' looks at every substream only when the last one that held the next emission
  *     back has passed it; what is emitted never goes back.
  *   - '''Edges:''' before the first emission a substream holds back while it has no watermark.
  *   - '''Restart:''' the throttle is saved, the rest follows from the substreams.
  */
private[watermark] final class SubstreamGate(
    table: SubstreamTable,
    throttle: Throttle,
    timeout: Option[Long]
) {
  private val combination = new Combination
  private var target = Long.MinValue // the ideal that is worth offering
  private var holding = 0 // active substreams below `target`

  def ideal: Option[Long] = {
    combine()
    Option.when(combination.known)(combination.value)
  }

  def emitted: Option[Long] = Option.when(throttle.known)(throttle.emitted)

  /** A new substream holds back: it was made so. */
  def join(): Unit = holding += 1

  /** Whether this was the last substream that held the next emission back, and no longer does. */
  def freedBy(index: Int, substream: Substream): Boolean =
    substream.holds && substream.reached(target) && {
      substream.holds = false
      table.wakeAt(index, target)
      holding -= 1
      holding == 0
    }

  /** Offers the combined watermark; true when `emitted` moved. */
  def offer(clock: Long): Boolean = {
    combine()
    val moved = combination.known && throttle.offer(clock, combination.value)
    aim()
    moved
  }

  def raise(floor: Long, now: Long): Unit = {
    throttle.raise(floor, now)
    aim()
  }

  /** Sees which active substreams hold back the next emission. */
  def aim(): Unit = {
    target = throttle.watched
    holding = 0
    var i = 0
    while (i < table.size) {
      val substream = table(i)
      substream.holds = !substream.idle && !substream.reached(target)
      if (substream.holds) holding += 1
      table.wakeAt(i, target)
      i += 1
    }
  }

  /** The clock value at which an ideal that waits has to be offered again. */
  def offerAgainAt(clock: Long): Long =
    if (holding == 0 && throttle.notBefore > clock) throttle.notBefore else Long.MaxValue

  /** When `emitted` is at `value`, if no rows come. */
  def dueAt(value: Long, clock: Long): Option[Long] =
    if (throttle.known && throttle.emitted >= value) Some(clock)
    else emissionAt(throttle.required(value), clock)

  /** When `emitted` moves, if no rows come. */
  def nextDue(clock: Long): Option[Long] = emissionAt(throttle.nextTarget, clock)

  /** When the last substream goes idle, if no rows come. */
  def idleAt(clock: Long): Option[Long] =
    deadlines(Long.MaxValue, clock).idle.map(Math.max(clock, _))

  def save(out: DataOutput): Unit = throttle.save(out)

  def restore(in: DataInput): Unit = throttle.restore(in)

  private def combine(): Unit = {
    combination.clear(table.left)
    var i = 0
    while (i < table.size) { combination.add(table(i)); i += 1 }
  }

  private def emissionAt(ideal: Long, clock: Long): Option[Long] =
    deadlines(ideal, clock).earliest.map(at => throttle.dueFrom(Math.max(clock, at)))

  private def deadlines(ideal: Long, clock: Long): Deadlines = {
    val all = new Deadlines
    all.addLeft(Option.when(table.left.known && table.left.value >= ideal)(clock))
    table.iterator.foreach { substream =>
      val due =
        if (substream.reached(ideal)) Some(clock)
        else if (substream.isPaused) None
        else substream.policy.dueAt(ideal)
      all.add(due, timeout.map(substream.idleAt).filter(_ < Long.MaxValue))
    }
    all
  }
}
