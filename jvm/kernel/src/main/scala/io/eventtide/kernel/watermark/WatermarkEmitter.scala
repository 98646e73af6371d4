package io.eventtide.kernel.watermark

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.DataInput
import java.io.DataInputStream
import java.io.DataOutput
import java.io.DataOutputStream

/** The way out of a combination of substreams: their lowest watermark, and the throttle behind it.
  *
  *   - '''Guarantee:''' looks at every substream only when the last one that held the next emission
  *     back has passed it; what is emitted never goes back.
  *   - '''Edges:''' before the first emission a substream holds back while it has no watermark.
  *   - '''Restart:''' what was emitted is saved, and the throttle; the rest follows from the substreams.
  */
private[watermark] final class WatermarkEmitter(
    table: SubstreamTable,
    throttle: Throttle,
    timeout: Long
) {
  private val combination = new MinActiveWatermark
  private var isCombined = false // `combination` is of the substreams as they are
  private var isAimed = false // and so are the next two
  private var target = Long.MinValue // the ideal that is worth offering
  private var holding = 0 // active substreams below `target`

  def ideal: Option[Long] = {
    if (!isCombined) combine()
    Option.when(combination.known)(combination.value)
  }

  def emitted: Option[Long] = Option.when(throttle.known)(throttle.emitted)

  /** A new substream holds back: it was made so. */
  def join(): Unit = {
    holding += 1
    isCombined = false
  }

  /** Substreams changed otherwise than by a row that `released` is asked about. */
  def disturb(): Unit = {
    isCombined = false
    isAimed = false
  }

  /** Rows come one by one from now on: sees to it that those are known that hold back. */
  def watch(): Unit = {
    isCombined = false
    if (!isAimed) retarget()
  }

  /** Whether this was the last substream that held the next emission back, and no longer does. */
  def released(index: Int, substream: Substream): Boolean =
    substream.holds && substream.reached(target) && {
      substream.holds = false
      table.wakeAt(index, target)
      holding -= 1
      holding == 0
    }

  /** Offers the combined watermark; true when `emitted` moved. */
  def offer(clock: Long): Boolean = {
    combine()
    offerAdded(clock)
  }

  /** Begins another look at all substreams, each of which is to be added. */
  def begin(): Unit = combination.clear(table.left)

  def add(substream: Substream): Unit = combination.add(substream)

  /** Offers what those have together that were added; true when `emitted` moved. */
  def offerAdded(clock: Long): Boolean = {
    isCombined = true
    isAimed = false
    combination.known && throttle.offer(clock, combination.value)
  }

  def raise(floor: Long, now: Long): Unit = {
    throttle.raise(floor, now)
    isAimed = false
  }

  // Sees which active substreams hold back the next emission.
  private def retarget(): Unit = {
    isAimed = true
    table.postpone()
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
    if (throttle.notBefore > clock && isFree) throttle.notBefore else Long.MaxValue

  private def isFree: Boolean = {
    if (!isAimed) retarget()
    holding == 0
  }

  /** When `emitted` is at `value`, if no rows come. */
  def dueAt(value: Long, clock: Long): Option[Long] =
    if (throttle.known && throttle.emitted >= value) Some(clock)
    else emissionAt(throttle.required(value), clock)

  /** When `emitted` moves, if no rows come. */
  def nextDue(clock: Long): Option[Long] = emissionAt(throttle.nextTarget, clock)

  /** When the last substream goes idle, if no rows come. */
  def idleAt(clock: Long): Option[Long] =
    if (timeout == WatermarkPolicy.Never && table.size > 0) None
    else deadlines(Long.MaxValue, clock).idle.map(Math.max(clock, _))

  /** What would be emitted by the clock value and the watermarks given, through a throttle of the same
    * kind, which has let nothing through yet.
    */
  def emittedBy(clock: Long, ahead: MinActiveWatermark, unused: Throttle): Option[Long] = {
    unused.restore(new DataInputStream(new ByteArrayInputStream(throttleState)))
    if (ahead.known) { val _ = unused.offer(clock, ahead.value) }
    Option.when(unused.known)(unused.emitted)
  }

  /** Saves what was emitted too, and how long the throttle's state is, for one of other throttles. */
  def save(out: DataOutput): Unit = {
    out.writeBoolean(throttle.known)
    if (throttle.known) out.writeLong(throttle.emitted)
    val state = throttleState
    out.writeInt(state.length)
    out.write(state)
  }

  /** @param isSame
    *   whether throttles of the same kinds have saved it; others go on from what was emitted
    */
  def restore(in: DataInput, isSame: Boolean, clock: Long): Unit = {
    val emitted = Option.when(in.readBoolean())(in.readLong())
    val state = new Array[Byte](in.readInt())
    in.readFully(state)
    if (isSame) throttle.restore(new DataInputStream(new ByteArrayInputStream(state)))
    else emitted.foreach(throttle.raise(_, clock))
  }

  private def throttleState: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    throttle.save(new DataOutputStream(bytes))
    bytes.toByteArray
  }

  private def combine(): Unit = {
    begin()
    var i = 0
    while (i < table.size) { add(table(i)); i += 1 }
    isCombined = true
  }

  private def emissionAt(ideal: Long, clock: Long): Option[Long] =
    deadlines(ideal, clock).earliest.map(at => throttle.dueFrom(Math.max(clock, at)))

  private def deadlines(ideal: Long, clock: Long): Deadlines = {
    val all = new Deadlines
    if (table.left.known && table.left.value >= ideal) all.addLeft(clock)
    var i = 0
    while (i < table.size) {
      val substream = table(i)
      all.add(dueAt(substream, ideal, clock), substream.idleAt(timeout))
      i += 1
    }
    all
  }

  private def dueAt(substream: Substream, ideal: Long, clock: Long): Long =
    if (substream.reached(ideal)) clock
    else if (substream.isPaused) WatermarkPolicy.Never
    else substream.policy.dueAt(ideal)
}
