package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** Several throttles in order, each applied to the output of the previous one.
  *
  *   - '''Guarantee:''' the guarantees of every throttle; the output of the last one is emitted.
  *   - '''Edges:''' a value that an earlier throttle passed and a later one did not is not offered
  *     again.
  *   - '''Restart:''' format 1: the state of each, in order.
  */
private[watermark] final class ThrottleChain(parts: Array[Throttle]) extends Throttle {
  private val last = parts(parts.length - 1)

  def offer(now: Long, ideal: Long): Boolean = {
    var value = ideal
    var i = 0
    while (i < parts.length - 1 && pass(parts(i), now, value)) { value = parts(i).emitted; i += 1 }
    i == parts.length - 1 && last.offer(now, value)
  }

  def known: Boolean = last.known

  def emitted: Long = last.emitted

  def raise(floor: Long, now: Long): Unit = parts.foreach(_.raise(floor, now))

  def required(value: Long): Long = parts.foldRight(value)((part, needed) => part.required(needed))

  def nextTarget: Long =
    parts.init.foldRight(last.nextTarget)((part, needed) => part.required(needed))

  override def lowestToOffer: Long = parts.head.lowestToOffer

  override def notBefore: Long = parts.map(_.notBefore).max

  override def dueFrom(reached: Long): Long =
    parts.foldLeft(reached)((at, part) => part.dueFrom(at))

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    parts.foreach(_.save(out))
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "throttle chain", known = 1)
    parts.foreach(_.restore(in))
  }

  /** Offers to a part that is not the last; returns true if there is a value for the next part.
    */
  private def pass(part: Throttle, now: Long, value: Long): Boolean = {
    val _ = part.offer(now, value)
    part.known
  }
}

/** Emits every ideal watermark that is an advance.
  *
  *   - '''Guarantee:''' never goes back.
  *   - '''Restart:''' format 1 of `BaseThrottle`.
  */
private[watermark] final class Unthrottled extends BaseThrottle {
  def offer(now: Long, ideal: Long): Boolean = emit(ideal)

  protected def idealFor(value: Long): Long = value

  protected def idealAbove(last: Long): Long = Clamped.add(last, 1)
}
