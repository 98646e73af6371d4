package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion

/** What was emitted last, or nothing yet: the part that every throttle has.
  *
  *   - '''Guarantee:''' never goes back.
  *   - '''Restart:''' format 1: known, emitted, then what the throttle itself adds.
  */
private[watermark] abstract class BaseThrottle extends Throttle {
  private val last = new MonotonicMax

  final def known: Boolean = last.known

  final def emitted: Long = last.value

  final def raise(floor: Long, now: Long): Unit = if (last.raise(floor)) raised(now)

  final def required(value: Long): Long =
    if (value == Long.MinValue || known && emitted >= value) Long.MinValue else idealFor(value)

  final def nextTarget: Long = if (known) idealAbove(emitted) else Long.MinValue

  final def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    last.save(out)
    saveMore(out)
  }

  final def restore(in: DataInput): Unit = {
    StateVersion.read(in, "throttle", newest = 1)
    last.restore(in)
    restoreMore(in)
  }

  /** Emits `value` unless as much was emitted before; true when it did. */
  protected final def emit(value: Long): Boolean = last.raise(value)

  /** The lowest ideal that is let through as `value` or more, which is above what was emitted. */
  protected def idealFor(value: Long): Long

  /** The lowest ideal that is let through at all, after `last` was. */
  protected def idealAbove(last: Long): Long

  /** What was emitted went up elsewhere. */
  protected def raised(now: Long): Unit = ()

  protected def saveMore(out: DataOutput): Unit = ()

  protected def restoreMore(in: DataInput): Unit = ()
}
