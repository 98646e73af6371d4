package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** Stays a fixed lag behind the clock, independent of the rows.
  *
  *   - '''Guarantee:''' known and moving from the first tick; rows have no effect.
  *   - '''Units:''' event time is the clock's time: same unit, same epoch.
  *   - '''Edges:''' `Substreams` caps it at the highest time of the rows just read, so a delayed
  *     read does not make its rows late.
  *   - '''Restart:''' skipped time does not move the watermark; the first tick after it does, by
  *     the whole distance.
  *   - '''Source:''' Jet 4.3 `limitingRealTimeLag`.
  */
object LimitingRealTimeLag
    extends PolicyKind(
      "limiting_real_time_lag",
      ParamSpec.duration("lag", "how far the watermark is behind the clock")
    ) {
  def apply(lag: Long): PolicySpec = PolicySpec(this, Seq(lag))

  override def movesWithClock: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy =
    new RealTimeLagPolicy(Clamped.add(spec.lag, spec.ahead))
}

/** The instance of policies that follow the clock; moves only with clock time that counts.
  *
  *   - '''Edges:''' after a skip, the next higher clock value is the first that counts.
  *   - '''Restart:''' format 1: lag, lowest watermark carried over, clock.
  */
private[watermark] final class RealTimeLagPolicy(lag: Long) extends WatermarkPolicy {
  private val clock = new PolicyClock
  private var floor = Long.MinValue // reached under another lag; `Long.MinValue` if none

  def known: Boolean = clock.credited

  def watermark: Long = Math.max(floor, Clamped.subtract(clock.counting, lag))

  override def tick(now: Long): Unit = { val _ = clock.tick(now) }

  override def skip(now: Long): Unit = { val _ = clock.skip(now) }

  def observe(now: Long, ts: Long): Unit = tick(now)

  override def knownAt(now: Long): Boolean = known || clock.moves(now)

  override def watermarkAt(now: Long): Long =
    Math.max(floor, Clamped.subtract(if (clock.moves(now)) now else clock.counting, lag))

  override def firstRowFor(target: Long): Long = Long.MaxValue // rows do not move it

  override def dueAt(target: Long): Long =
    if (known && watermark >= target) clock.now
    else if (clock.started) afterNow(firstAt(target))
    else firstAt(target)

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    out.writeLong(lag)
    out.writeLong(floor)
    clock.save(out)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "real-time lag", known = 1)
    val savedLag = in.readLong()
    val savedFloor = in.readLong()
    clock.restore(in)
    val reached = Math.max(savedFloor, Clamped.subtract(clock.counting, savedLag))
    floor = if (savedLag == lag || !known) savedFloor else reached
  }

  /** The clock value that is `lag` above `target`; a target at or below `floor` is already reached.
    */
  private def firstAt(target: Long): Long =
    if (target <= floor) Long.MinValue else Clamped.add(target, lag)

  /** At least the clock value after `now`, because skipped clock values do not count. */
  private def afterNow(due: Long): Long = Math.max(due, Clamped.add(clock.now, 1))
}
