package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** Stays `lag` behind the highest event time; in a lull, advances with the clock.
  *
  *   - '''Guarantee:''' the result does not depend on how often `tick` is called: a row first
  *     applies the elapsed time, then itself.
  *   - '''Units:''' lag, lull, event time and clock share one unit.
  *   - '''Edges:''' no watermark before the first row, regardless of the clock. Only a row that
  *     raises the watermark ends a lull; a row at or below it does not.
  *   - '''Restart:''' skipped time does not count towards the lull; ticked time does.
  *   - '''Source:''' Jet 0.5 `limitingLagAndLull`, which lost lull time between polls.
  */
object LimitingLagAndLull
    extends PolicyKind(
      "limiting_lag_and_lull",
      ParamSpec.Lag,
      ParamSpec.duration(
        "max_lull",
        "after this long without an advance by data, the clock advances it"
      )
    ) {
  def apply(lag: Long, maxLull: Long): PolicySpec = PolicySpec(this, Seq(lag, maxLull))

  override def movesWithClock: Boolean = true

  override def measuresIdleness: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy =
    new LagAndLullPolicy(spec.lag, maxLull = spec.values(1))
}

/** The instance of `LimitingLagAndLull`: the watermark set by data, and its clock value.
  *
  *   - '''Guarantee:''' only rows and skips change `byData` and `since`.
  *   - '''Restart:''' format 1: known, byData, since, max lull, clock.
  */
private[watermark] final class LagAndLullPolicy(lag: Long, maxLull: Long) extends WatermarkPolicy {
  private val clock = new PolicyClock
  private var seen = false
  private var byData = 0L // not read while `seen` is false; same for the next two
  private var since = 0L
  private var current = 0L

  def known: Boolean = seen

  def watermark: Long = current

  override def tick(now: Long): Unit = if (clock.tick(now) && seen) current = at(clock.now, maxLull)

  override def skip(now: Long): Unit = since = Clamped.add(since, clock.skip(now))

  def observe(now: Long, ts: Long): Unit = {
    tick(now)
    val candidate = Clamped.subtract(ts, lag)
    if (!seen || candidate > current) advance(candidate)
  }

  override def watermarkAt(now: Long): Long = if (clock.moves(now)) at(now, maxLull) else current

  override def firstRowFor(target: Long): Long = Clamped.add(target, lag)

  override def dueAt(target: Long): Long =
    if (!seen) WatermarkPolicy.Never
    else if (current >= target) clock.now
    else {
      val missing = target - byData
      if (missing < 0) WatermarkPolicy.Never
      else Clamped.add(Clamped.add(since, maxLull), missing)
    }

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    out.writeBoolean(seen)
    out.writeLong(byData)
    out.writeLong(since)
    out.writeLong(maxLull)
    clock.save(out)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "lag and lull", known = 1)
    seen = in.readBoolean()
    byData = in.readLong()
    since = in.readLong()
    val savedMaxLull = in.readLong()
    clock.restore(in)
    if (seen) keep(at(clock.now, savedMaxLull))
  }

  private def advance(to: Long): Unit = {
    seen = true
    byData = to
    since = clock.now
    current = to
  }

  /** The watermark at clock value `now`, if no rows had come since `since`. */
  private def at(now: Long, lull: Long): Long =
    Clamped.add(byData, Math.max(0, Clamped.subtract(now, since) - lull))

  /** Keeps a watermark that was reached under a shorter lull, so that it does not go back. */
  private def keep(reached: Long): Unit = {
    val lost = Math.max(0, Clamped.subtract(reached, at(clock.now, maxLull)))
    byData = Clamped.add(byData, lost)
    current = at(clock.now, maxLull)
  }
}
