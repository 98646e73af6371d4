package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.disorder.LateTargetSpec
import io.eventtide.kernel.time.Clamped

/** Stays a lag behind the highest event time that a `LateTarget` learns from the late rows of the
  * input, so that a share of the rows is late.
  *
  *   - '''Guarantee:''' all substreams, or keys, of an input have the same lag. The watermark never goes
  *     back: if the lag grows, it waits until the highest event time has caught up.
  *   - '''Units:''' the target is in millionths of the rows, `max_lag` and `start` are in the unit of
  *     event time. The clock has no effect.
  *   - '''Edges:''' no watermark before the first row; when rows stop, the watermark stops. A policy may
  *     contain one target.
  *   - '''Restart:''' continues with the learnt lag. Its parameters may change.
  *   - '''Source:''' Eventtide; see `LateTarget`.
  */
object WithLateTarget
    extends PolicyKind(
      "with_late_target",
      ParamSpec.share("target", "the share of rows that may be late"),
      ParamSpec("max_lag", ParamKind.Duration, 0, "the highest lag", Some(3600000000L)),
      ParamSpec("start", ParamKind.Duration, 0, "the lag before there are rows", Some(0)),
      ParamSpec.count("memory", 65536, "rows after which earlier rows count half"),
      ParamSpec.choice(
        "budget",
        Seq("recent", "forever"),
        "for how long late rows count against the target"
      )
    ) {

  def apply(
      perMillion: Long,
      maxLag: Long,
      start: Long = 0,
      memory: Long = 65536,
      forgives: Boolean = true
  ): PolicySpec =
    PolicySpec(this, Seq(perMillion, maxLag, start, memory, if (forgives) 0 else 1))

  private[watermark] def target(values: Seq[Long]): LateTargetSpec = values match {
    case Seq(perMillion, maxLag, start, memory, budget) =>
      LateTargetSpec(perMillion, maxLag, start, memory, forgives = budget == 0)
    case _ => throw new IllegalArgumentException(s"${values.length} values of $name")
  }

  /** The lag is learnt from the rows of all tasks. */
  override def onlyOnDriver: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy = {
    val of = target(spec.values)
    new LearntLagPolicy(math.min(of.start, of.maxLag))
  }
}

/** The instance of `WithLateTarget`: the highest time minus a lag that changes between batches.
  *
  *   - '''Restart:''' format 1: known, highest time, lag, the lowest watermark.
  */
private[watermark] final class LearntLagPolicy(private var lag: Long) extends WatermarkPolicy {
  private var seen = false
  private var top = 0L // not read while `seen` is false
  private var floor = Long.MinValue

  def known: Boolean = seen

  def watermark: Long = math.max(floor, Clamped.subtract(top, lag))

  def observe(now: Long, ts: Long): Unit = {
    top = if (seen) Math.max(top, ts) else ts
    seen = true
  }

  private[kernel] override def learn(lag: Long): Unit = if (lag != this.lag) {
    if (seen) floor = watermark
    this.lag = lag
  }

  override def firstRowFor(target: Long): Long = Clamped.add(target, lag)

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    out.writeBoolean(seen)
    out.writeLong(top)
    out.writeLong(lag)
    out.writeLong(floor)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "learnt lag", known = 1)
    seen = in.readBoolean()
    top = in.readLong()
    lag = in.readLong()
    floor = in.readLong()
  }
}
