package io.eventtide.kernel.watermark

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.DataInput
import java.io.DataInputStream
import java.io.DataOutput
import java.io.DataOutputStream

import io.eventtide.kernel.SavedText

/** Emits the lowest watermark of the substreams through a throttle.
  *
  *   - '''Guarantee:''' visits every substream only when the last substream that delayed the next
  *     emission has passed it; the emitted watermark never goes back.
  *   - '''Edges:''' before the first emission, a substream without a watermark delays it.
  *   - '''Restart:''' saves the emitted watermark and the throttle; the rest is derived from the
  *     substreams.
  */
private[watermark] final class WatermarkEmitter(
    table: SubstreamTable,
    throttle: Throttle,
    timeout: Long
) {
  private val combination = new MinActiveWatermark
  private var isCombined = false // whether `combination` is up to date
  private var isTargetCurrent = false // whether `target` and `blockingCount` are up to date
  private var target = Long.MinValue // the lowest ideal that needs to be offered
  private var blockingCount = 0 // active substreams below `target`

  def ideal: Option[Long] = {
    if (!isCombined) combine()
    Option.when(combination.known)(combination.value)
  }

  def emitted: Option[Long] = Option.when(throttle.known)(throttle.emitted)

  /** Adds a new substream, whose `isBlocking` is initially true. */
  def declared(): Unit = {
    blockingCount += 1
    isCombined = false
  }

  /** Invalidates cached values after a change other than a row that `released` checks. */
  def invalidate(): Unit = {
    isCombined = false
    isTargetCurrent = false
  }

  /** Prepares for single rows: finds the substreams that delay the next emission. */
  def prepareForRows(): Unit = {
    isCombined = false
    if (!isTargetCurrent) retarget()
  }

  /** Whether this substream was the last that delayed the next emission, and no longer does. */
  def released(index: Int, substream: Substream): Boolean =
    substream.isBlocking && substream.reached(target) && {
      substream.isBlocking = false
      table.deferUntil(index, target)
      blockingCount -= 1
      blockingCount == 0
    }

  /** Offers the combined watermark; returns true if `emitted` moved. */
  def offer(clock: Long): Boolean = {
    combine()
    offerAdded(clock)
  }

  /** Begins a pass over all substreams; the caller adds each of them. */
  def begin(): Unit = combination.clear(table.highestRemoved)

  def add(substream: Substream): Unit = combination.add(substream)

  /** Offers the combined watermark of the added substreams; returns true if `emitted` moved. */
  def offerAdded(clock: Long): Boolean = {
    isCombined = true
    isTargetCurrent = false
    combination.known && throttle.offer(clock, combination.value)
  }

  def raise(floor: Long, now: Long): Unit = {
    throttle.raise(floor, now)
    isTargetCurrent = false
  }

  // Finds the active substreams that delay the next emission.
  private def retarget(): Unit = {
    isTargetCurrent = true
    table.reserveDeferred()
    target = throttle.lowestToOffer
    blockingCount = 0
    var i = 0
    while (i < table.size) {
      val substream = table(i)
      substream.isBlocking = !substream.idle && !substream.reached(target)
      if (substream.isBlocking) blockingCount += 1
      table.deferUntil(i, target)
      i += 1
    }
  }

  /** The clock value at which a pending ideal has to be offered again. */
  def nextOfferAt(clock: Long): Long =
    if (throttle.notBefore > clock && isUnblocked) throttle.notBefore else Long.MaxValue

  private def isUnblocked: Boolean = {
    if (!isTargetCurrent) retarget()
    blockingCount == 0
  }

  /** The clock value at which `emitted` is at `value` or above, if no rows come. */
  def dueAt(value: Long, clock: Long): Option[Long] =
    if (throttle.known && throttle.emitted >= value) Some(clock)
    else emissionAt(throttle.required(value), clock)

  /** The clock value at which `emitted` moves, if no rows come. */
  def nextDue(clock: Long): Option[Long] = emissionAt(throttle.nextTarget, clock)

  /** The clock value at which the last substream goes idle, if no rows come. */
  def idleAt(clock: Long): Option[Long] =
    if (timeout == WatermarkPolicy.Never && table.size > 0) None
    else deadlines(Long.MaxValue, clock).idle.map(Math.max(clock, _))

  /** The watermark that would be emitted at a clock value, given the combined watermark.
    *
    * @param unused a throttle of the same kind that has not emitted anything
    */
  def emittedBy(clock: Long, ahead: MinActiveWatermark, unused: Throttle): Option[Long] = {
    unused.restore(new DataInputStream(new ByteArrayInputStream(throttleState)))
    if (ahead.known) { val _ = unused.offer(clock, ahead.value) }
    Option.when(unused.known)(unused.emitted)
  }

  /** Also saves the emitted watermark and the length of the throttle's state, for a restore with
    * other throttles.
    */
  def save(out: DataOutput): Unit = {
    out.writeBoolean(throttle.known)
    if (throttle.known) out.writeLong(throttle.emitted)
    val state = throttleState
    out.writeInt(state.length)
    out.write(state)
  }

  /** @param isSame whether throttles of the same kinds saved the state; others continue from the
    *   emitted watermark
    */
  def restore(in: DataInput, isSame: Boolean, clock: Long): Unit = {
    val emitted = Option.when(in.readBoolean())(in.readLong())
    val state = SavedText.readBytes(in)
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
    if (table.highestRemoved.known && table.highestRemoved.value >= ideal) all.addRemoved(clock)
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
