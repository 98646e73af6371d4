package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** Records the history of a value in slots of clock time and returns the value of `maxDelay` ago.
  *
  *   - '''Guarantee:''' a sampled value is returned at most `maxDelay` after its sample, and at
  *     most one slot width earlier, until a later slot replaces it. Samples that repeat the value
  *     change nothing, so the result does not depend on how often `tick` is called.
  *   - '''Units:''' `maxDelay` and the clock share one unit; the value may have any unit.
  *   - '''Edges:''' slot 0 starts at the first call; slots are `maxDelay / slots` wide, rounded
  *     down. An empty slot has the value of the previous slot, including "unknown". The result may
  *     go back if the samples did. The clock never runs back.
  *   - '''Restart:''' all fields are saved; skipped time shifts the grid.
  *   - '''Source:''' Jet's `TimestampHistory`.
  *
  * @param maxDelay age of the returned value, at least `slots`
  * @param slots number of slots in `maxDelay`, one or more
  */
private[watermark] final class DelayLine(maxDelay: Long, slots: Int) {
  if (slots < 1) throw new InvalidArgument("samples", slots, "one or more")
  if (maxDelay < slots)
    throw new InvalidArgument("max_delay", maxDelay, s"at least the number of samples, $slots")

  private val width = maxDelay / slots
  private val ring = slots + 1 // the present slot and the `slots` before it
  private val values = new Array[Long](ring)
  private val filled = new Array[Boolean](ring)
  private val clock = new PolicyClock
  private var origin = 0L // the clock value at which slot 0 starts; not read before the first call
  private var newest = 0L // the highest slot with a sample

  /** Moves the clock, and with it the slot that is returned. */
  def tick(now: Long): Unit = {
    if (!clock.started) origin = now
    val _ = clock.tick(now)
  }

  /** Moves the clock and shifts the grid with it, so that no sample gets older. */
  def skip(now: Long): Unit = {
    if (!clock.started) origin = now
    origin = Clamped.add(origin, clock.skip(now))
  }

  /** Records the value at `now`; replaces an earlier sample in the same slot. */
  def sample(now: Long, value: Long): Unit = {
    tick(now)
    carryForward(slotOf(clock.now))
    values(indexOf(newest)) = value
    filled(indexOf(newest)) = true
  }

  /** Whether there was a value `maxDelay` ago. */
  def released: Boolean = releasedAt(clock.now)

  /** The value `maxDelay` ago; read it only when `released`. */
  def value: Long = valueAt(clock.now)

  /** Whether there would be a value if the clock moved to `now`. */
  def releasedAt(now: Long): Boolean = {
    val slot = answeredAt(now)
    slot >= 0 && filled(indexOf(slot))
  }

  /** The value at `now`; read it only when `releasedAt`. */
  def valueAt(now: Long): Long = values(indexOf(answeredAt(now)))

  /** The clock value from which on `value` is at `target` or above, if samples never went back. */
  def dueAt(target: Long): Long = {
    var slot = Math.max(0, newest - slots)
    while (slot <= newest && !reaches(slot, target)) slot += 1
    if (slot > newest) WatermarkPolicy.Never
    else Clamped.add(Clamped.add(origin, slot * width), slots * width)
  }

  def now: Long = clock.now

  def save(out: DataOutput): Unit = {
    clock.save(out)
    out.writeLong(origin)
    out.writeLong(newest)
    for (i <- 0 until ring) { out.writeBoolean(filled(i)); out.writeLong(values(i)) }
  }

  def restore(in: DataInput): Unit = {
    clock.restore(in)
    origin = in.readLong()
    newest = in.readLong()
    for (i <- 0 until ring) { filled(i) = in.readBoolean(); values(i) = in.readLong() }
  }

  /** Copies the newest slot's value into the slots after it up to `slot`, each at most once. */
  private def carryForward(slot: Long): Unit = {
    val from = indexOf(newest)
    var next = Math.max(newest + 1, slot - slots)
    while (next <= slot) {
      values(indexOf(next)) = values(from)
      filled(indexOf(next)) = filled(from)
      next += 1
    }
    newest = Math.max(newest, slot)
  }

  private def slotOf(time: Long): Long =
    Math.min(Clamped.subtract(time, origin) / width, Long.MaxValue - ring)

  /** The slot that is returned at `now`: `slots` ago, or the newest slot if it is older; negative
    * before the first call, when there is no value at any time.
    */
  private def answeredAt(now: Long): Long =
    if (clock.started) Math.min(slotOf(Math.max(now, clock.now)) - slots, newest) else -1

  private def reaches(slot: Long, target: Long): Boolean =
    filled(indexOf(slot)) && values(indexOf(slot)) >= target

  private def indexOf(slot: Long): Int = (slot % ring).toInt
}
