package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** Stays a fixed lag behind the highest event time.
  *
  *   - '''Guarantee:''' an event at most `lag` behind the highest earlier event is not late.
  *   - '''Units:''' any; the lag is in the unit of event time. The clock has no effect.
  *   - '''Edges:''' no watermark before the first row; when rows stop, the watermark stops.
  *   - '''Restart:''' continues from the saved watermark; a larger lag never moves it back.
  *   - '''Source:''' Jet's `withFixedLag`, later `limitingLag`.
  */
object WithFixedLag extends PolicyKind("with_fixed_lag", ParamSpec.Lag) {
  def apply(lag: Long): PolicySpec = PolicySpec(this, Seq(lag))

  def create(spec: PolicySpec): WatermarkPolicy = new FixedLagPolicy(spec.lag)
}

/** The instance of `WithFixedLag` and `StormLag`: the highest time minus the lag.
  *
  *   - '''Guarantee:''' the highest time starts at a value from which subtracting the lag cannot
  *     overflow, so neither `observe` nor `watermark` has a branch.
  *   - '''Edges:''' a row below `Long.MinValue + lag` gives the lowest watermark.
  *   - '''Restart:''' format 1: known, highest time, lag.
  */
private[watermark] final class FixedLagPolicy(lag: Long) extends WatermarkPolicy {
  private var seen = false
  private var top = Long.MinValue + lag

  def known: Boolean = seen

  def watermark: Long = top - lag

  def observe(now: Long, ts: Long): Unit = {
    seen = true
    top = Math.max(top, ts)
  }

  override def firstRowFor(target: Long): Long = Clamped.add(target, lag)

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    out.writeBoolean(seen)
    out.writeLong(top)
    out.writeLong(lag)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "fixed lag", known = 1)
    seen = in.readBoolean()
    val savedTop = in.readLong()
    val savedWatermark = savedTop - in.readLong()
    if (seen) top = Math.max(savedTop, Clamped.add(savedWatermark, lag))
  }
}
