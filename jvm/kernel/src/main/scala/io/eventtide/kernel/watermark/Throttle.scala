package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

/** Emits only some of the ideal watermarks, so that not every advance costs the whole pipeline.
  *
  *   - '''Guarantee:''' the emitted watermark never goes back, and is never ahead of the highest
  *     ideal offered or value passed to `raise`.
  *   - '''Units:''' the ideal and the emitted watermark share one unit; `now` is in the clock's
  *     unit.
  *   - '''Edges:''' "nothing emitted yet" is a separate state. The first ideal always passes, if
  *     the kind of throttle allows it.
  *   - '''Restart:''' saved and restored; an emitted watermark is not emitted again.
  *   - '''Source:''' Jet's throttles wrap a policy; these apply after the substreams are combined.
  */
trait Throttle {

  /** Offers the ideal watermark; returns true if `emitted` moved. */
  def offer(now: Long, ideal: Long): Boolean

  /** Whether anything was emitted yet. */
  def known: Boolean

  /** The watermark emitted last; read it only when `known`. */
  def emitted: Long

  /** Raises `emitted` to a watermark that was emitted elsewhere; an advance counts as emitted at
    * `now`.
    */
  def raise(floor: Long, now: Long): Unit

  /** The lowest ideal that brings `emitted` to `value` or more; `Long.MinValue` if any ideal does.
    */
  def required(value: Long): Long

  /** The lowest ideal that moves `emitted` at all; `Long.MinValue` if any ideal does. */
  def nextTarget: Long

  /** The lowest ideal that changes any state; lower ideals need not be offered. */
  def lowestToOffer: Long = nextTarget

  /** The clock value before which nothing is emitted; `Long.MinValue` if there is no such limit. */
  def notBefore: Long = Long.MinValue

  /** The clock value of the emission, if the required ideal is reached at `reached`. */
  def dueFrom(reached: Long): Long = reached

  def save(out: DataOutput): Unit

  /** Restores what `save` wrote; only for a new instance. */
  def restore(in: DataInput): Unit
}
