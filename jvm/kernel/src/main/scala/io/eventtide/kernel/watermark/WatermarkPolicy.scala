package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

/** Computes the watermark of one substream: the time below which no more events are expected.
  *
  *   - '''Guarantee:''' the watermark never goes back, not even after a restart with other
  *     parameters. Nothing here allocates.
  *   - '''Units:''' event times and the clock share one unit where a policy compares them.
  *   - '''Edges:''' until it is `known` there is no watermark, and `watermark` must not be read.
  *     The clock never runs back: an older `now` counts as the highest one seen.
  *   - '''Restart:''' a `save` after the last row is enough. Ticks change only the clock in the
  *     saved state, and ticking a restored policy brings it to the state of the live one.
  *   - '''Defaults:''' for a policy that only rows move, and that needs only their highest time.
  *   - '''Source:''' Jet's `WatermarkPolicy`, with a `known` flag instead of the lowest long.
  */
trait WatermarkPolicy {

  /** Moves the clock; the elapsed time counts. */
  def tick(now: Long): Unit = ()

  /** Moves the clock; the elapsed time does not count, because the query was down. */
  def skip(now: Long): Unit = ()

  /** Ticks, then applies one row. */
  def observe(now: Long, ts: Long): Unit

  /** Ticks, then applies the rows of one batch, of which only the extremes matter. */
  def observe(now: Long, maxTs: Long, minTs: Long): Unit = observe(now, maxTs)

  /** Applies the highest mark of the observed rows: a watermark inside a row. */
  def observeMark(mark: Long): Unit = ()

  /** Sets the lag that the query has learnt from its late rows, for policies with a target. */
  private[kernel] def learn(lag: Long): Unit = ()

  /** Whether there is a watermark yet. */
  def known: Boolean

  /** The time below which no more events are expected; read it only when `known`. */
  def watermark: Long

  /** Whether there would be a watermark if the clock moved to `now`; does not change the state. */
  def knownAt(now: Long): Boolean = known

  /** The watermark at `now`; read it only when `knownAt`. */
  def watermarkAt(now: Long): Long = watermark

  /** The lowest event time of a row that may take the watermark to `target` at this clock value.
    *
    * Rows below it may be applied later, before the clock moves, in one call with their highest
    * time; the policy's state must be the same. `Long.MinValue` means that every row must be
    * applied immediately.
    */
  def firstRowFor(target: Long): Long = Long.MinValue

  /** The earliest clock value at which, without more rows, the watermark is at `target` or above.
    *
    * A past clock value means "already"; `Never` means that the target is never reached.
    */
  def dueAt(target: Long): Long =
    if (known && watermark >= target) WatermarkPolicy.Already else WatermarkPolicy.Never

  def save(out: DataOutput): Unit

  /** Restores what `save` wrote, possibly under other parameters; only for a new instance. */
  def restore(in: DataInput): Unit
}

object WatermarkPolicy {

  /** A clock value in the past of any clock, for policies without a clock. */
  private[watermark] val Already: Long = Long.MinValue

  /** The clock value for "never". */
  private[kernel] val Never: Long = Long.MaxValue
}
