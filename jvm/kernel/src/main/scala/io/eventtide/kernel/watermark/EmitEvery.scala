package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.time.{Clamped, Frame}

/** Emits a watermark only at the instants of a processing-time timer, as Storm does.
  *
  *   - '''Guarantee:''' at most one emission per interval. Between two timer instants, rows do not
  *     change the emitted watermark. An event is therefore late only by a watermark that the timer
  *     has emitted.
  *   - '''Units:''' the interval is in the clock's unit.
  *   - '''Edges:''' see `IntervalThrottle`.
  *   - '''Source:''' Storm's `withWatermarkInterval`.
  */
object EmitEvery
    extends ThrottleKind(
      "emit_every",
      ParamSpec.positive("interval", "the time between two instants of the timer")
    ) {
  def apply(interval: Long): ThrottleSpec = ThrottleSpec(this, Seq(interval))

  override def timed: Boolean = true

  def create(spec: ThrottleSpec): Throttle = {
    val interval = spec.values.head
    new IntervalThrottle(Frame(interval, Math.floorMod(spec.ahead, interval)))
  }
}

/** Emits the ideal watermark at the first timer instant after it rose.
  *
  *   - '''Guarantee:''' instants are the boundaries of `timer` on the clock, so neither a restart
  *     nor frequent calls move them; the watermark never goes back.
  *   - '''Edges:''' an ideal that is offered exactly at an instant is emitted there, unless that
  *     instant has already emitted. If no call comes at the instant, the first call after it emits
  *     the ideal of that call. With fewer calls than instants, every second call emits.
  *   - '''Restart:''' format 1 of `BaseThrottle`, then pending, instant.
  */
private[watermark] final class IntervalThrottle(timer: Frame) extends BaseThrottle {
  private var isPending = false // a higher ideal was offered and waits for `instant`
  private var instant = Long.MinValue // nothing is emitted before it

  def offer(now: Long, ideal: Long): Boolean = {
    val higher = !known || ideal > emitted
    if (higher && !isPending) schedule(now)
    higher && now >= instant && emitNow(now, ideal)
  }

  override def notBefore: Long = instant

  override def dueFrom(reached: Long): Long =
    Math.max(if (isPending) reached else timer.ceiling(reached), instant)

  protected def idealFor(value: Long): Long = value

  protected def idealAbove(last: Long): Long = Clamped.add(last, 1)

  override protected def saveMore(out: DataOutput): Unit = {
    out.writeBoolean(isPending)
    out.writeLong(instant)
  }

  override protected def restoreMore(in: DataInput): Unit = {
    isPending = in.readBoolean()
    instant = timer.ceiling(in.readLong()) // the interval may have changed
  }

  override protected def raised(now: Long): Unit = nextAfter(now)

  private def schedule(now: Long): Unit = {
    isPending = true
    instant = Math.max(instant, timer.ceiling(now))
  }

  private def emitNow(now: Long, ideal: Long): Boolean = {
    nextAfter(now)
    emit(ideal)
  }

  private def nextAfter(now: Long): Unit = {
    isPending = false
    instant = timer.higher(now)
  }
}
