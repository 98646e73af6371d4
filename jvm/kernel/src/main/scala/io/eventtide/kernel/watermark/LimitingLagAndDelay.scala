package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** Stays `lag` behind the highest event time and reaches every observed time within `maxDelay`.
  *
  *   - '''Guarantee:''' the watermark reaches an observed highest time at most `maxDelay` of clock
  *     time after it was seen, and at most one slot earlier than that. It is never above the
  *     highest time.
  *   - '''Units:''' the clock and `maxDelay` share one unit; event time and `lag` share another.
  *   - '''Edges:''' no watermark before the first row. When rows stop, the watermark stops at the
  *     highest time.
  *   - '''Restart:''' skipped time does not count towards the delay.
  *   - '''Source:''' Jet 0.4 `limitingLagAndDelay`.
  */
object LimitingLagAndDelay
    extends PolicyKind(
      "limiting_lag_and_delay",
      ParamSpec.Lag,
      ParamSpec.positive(
        "max_delay",
        "the longest time from seeing a highest event time to reaching it"
      ),
      ParamSpec.count(
        "samples",
        LagAndDelayPolicy.DefaultSamples.toLong,
        "slots of the history that measures the delay"
      )
    ) {
  def apply(
      lag: Long,
      maxDelay: Long,
      samples: Int = LagAndDelayPolicy.DefaultSamples
  ): PolicySpec =
    PolicySpec(this, Seq(lag, maxDelay, samples.toLong))

  override def movesWithClock: Boolean = true

  override def measuresIdleness: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy =
    new LagAndDelayPolicy(spec.lag, spec.values(1), Math.toIntExact(spec.values(2)))
}

/** The instance of `LimitingLagAndDelay`: the highest time and its history.
  *
  *   - '''Guarantee:''' rows and skips change the saved state; ticks change only the clock in it.
  *   - '''Restart:''' format 1: known, top, lag, max delay, samples, history. With another delay or
  *     number of samples, a new history starts from the watermark reached.
  */
private[watermark] final class LagAndDelayPolicy(lag: Long, maxDelay: Long, samples: Int)
    extends WatermarkPolicy {
  private val history = new DelayLine(maxDelay, samples)
  private var seen = false
  private var top = Long.MinValue // not read while `seen` is false
  private var current = Long.MinValue

  def known: Boolean = seen

  def watermark: Long = current

  override def tick(now: Long): Unit = {
    history.tick(now)
    if (history.released) current = Math.max(current, history.value)
  }

  override def skip(now: Long): Unit = history.skip(now)

  def observe(now: Long, ts: Long): Unit = {
    tick(now)
    seen = true
    top = Math.max(top, ts)
    current = Math.max(current, Clamped.subtract(top, lag))
    history.sample(now, top)
  }

  override def watermarkAt(now: Long): Long =
    if (history.releasedAt(now)) Math.max(current, history.valueAt(now)) else current

  override def firstRowFor(target: Long): Long = Clamped.add(target, lag)

  override def dueAt(target: Long): Long =
    if (seen && current >= target) history.now
    else if (seen && top >= target) history.dueAt(target)
    else WatermarkPolicy.Never

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    out.writeBoolean(seen)
    out.writeLong(top)
    out.writeLong(lag)
    out.writeLong(maxDelay)
    out.writeInt(samples)
    history.save(out)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "lag and delay", known = 1)
    seen = in.readBoolean()
    top = in.readLong()
    val savedLag = in.readLong()
    val savedDelay = in.readLong()
    val savedSamples = in.readInt()
    if (savedDelay == maxDelay && savedSamples == samples) restoreHistory(in, history)
    else restartHistory(restoreHistory(in, new DelayLine(savedDelay, savedSamples)))
    if (seen) current = Math.max(current, Clamped.subtract(top, savedLag))
  }

  private def restoreHistory(in: DataInput, into: DelayLine): DelayLine = {
    into.restore(in)
    if (into.released) current = into.value
    into
  }

  private def restartHistory(saved: DelayLine): Unit = if (seen) history.sample(saved.now, top)
}

private[kernel] object LagAndDelayPolicy {
  val DefaultSamples: Int = 16
}
