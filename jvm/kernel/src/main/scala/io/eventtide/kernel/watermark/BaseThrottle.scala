package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion

/** Base of all throttles: holds the watermark emitted last, if any.
  *
  *   - '''Guarantee:''' the watermark never goes back.
  *   - '''Restart:''' format 1: known, emitted, then the fields of the subclass.
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
    StateVersion.read(in, "throttle", known = 1)
    last.restore(in)
    restoreMore(in)
  }

  /** Emits `value` if it is above `emitted`, or the first; returns true when it does. */
  protected final def emit(value: Long): Boolean = last.raise(value)

  /** The lowest ideal that emits `value` or more, where `value` is above `emitted`. */
  protected def idealFor(value: Long): Long

  /** The lowest ideal that emits anything after `last` was emitted. */
  protected def idealAbove(last: Long): Long

  /** Called after `raise` has advanced `emitted`. */
  protected def raised(now: Long): Unit = ()

  protected def saveMore(out: DataOutput): Unit = ()

  protected def restoreMore(in: DataInput): Unit = ()
}
