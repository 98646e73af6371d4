package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

/** Lets some of the ideal watermarks through, so that not every step costs the whole pipeline.
  *
  *   - '''Guarantee:''' what is emitted never goes back, and is never ahead of the highest ideal
  *     offered (or of what `raise` said is known elsewhere).
  *   - '''Units:''' the ideal and the emitted watermark share one unit, `now` is the clock's.
  *   - '''Edges:''' "nothing emitted yet" is a state of its own; the first ideal always passes as
  *     far as the kind of throttle allows.
  *   - '''Restart:''' saved and restored; what was emitted is not emitted again.
  *   - '''Source:''' Jet's throttles wrap a policy, ours follow the combination of substreams.
  */
trait Throttle {

  /** Takes the ideal watermark; true when `emitted` has moved. */
  def offer(now: Long, ideal: Long): Boolean

  /** Whether anything was emitted yet. */
  def known: Boolean

  /** The watermark let through last; read it only when `known`. */
  def emitted: Long

  /** What is emitted is known elsewhere to be at least this; if so, it was emitted at `now`. */
  def raise(floor: Long, now: Long): Unit

  /** The lowest ideal that makes what is emitted `value` or more; `Long.MinValue` if any does. */
  def required(value: Long): Long

  /** The lowest ideal that makes what is emitted move at all; `Long.MinValue` if any does. */
  def nextTarget: Long

  /** The lowest ideal that changes anything inside; lower ones need not be offered. */
  def watched: Long = nextTarget

  /** The clock value before which nothing is emitted; `Long.MinValue` where the clock is free. */
  def notBefore: Long = Long.MinValue

  /** The clock value of the emission, when the ideal that it needs is there at `reached`. */
  def dueFrom(reached: Long): Long = reached

  def save(out: DataOutput): Unit

  /** Takes over what `save` wrote; only for a new instance. */
  def restore(in: DataInput): Unit
}
