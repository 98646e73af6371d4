package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

/** Decides, for one substream, up to which time no more events are expected.
  *
  *   - '''Guarantee:''' the watermark never goes back, not even after a restart with other
  *     parameters. Nothing here allocates.
  *   - '''Units:''' event times and the clock share one unit wherever a policy compares them.
  *   - '''Edges:''' before it is `known` there is no watermark, and `watermark` must not be read.
  *     The clock never runs back: an older `now` counts as the highest one seen.
  *   - '''Restart:''' `save` after the last row is enough: ticks change nothing that is saved but
  *     the clock, and ticking a restored policy brings it to where the live one is.
  *   - '''Source:''' Jet's `WatermarkPolicy`, with three states instead of the lowest long.
  */
trait WatermarkPolicy {

  /** The clock moves, and the time that passed counts. */
  def tick(now: Long): Unit

  /** The clock moves, but the time that passed does not count: the query was down. */
  def skip(now: Long): Unit

  /** Ticks, then takes one row. */
  def observe(now: Long, ts: Long): Unit

  /** Ticks, then takes the rows of one batch, of which only the extremes matter. */
  def observe(now: Long, maxTs: Long, minTs: Long): Unit

  /** Whether there is a watermark yet. */
  def known: Boolean

  /** No more events below this are expected; read it only when `known`. */
  def watermark: Long

  /** Whether there would be one if the clock moved to `now`; that it would, changes nothing. */
  def knownAt(now: Long): Boolean = known

  /** What it would be then; read it only when `knownAt`. */
  def watermarkAt(now: Long): Long = watermark

  /** The lowest event time of a row that may take the watermark to `target` at this clock value.
    *
    * Rows below it may be told late, before the clock moves, in one call by their highest time: the
    * policy must come out the same. `Long.MinValue`: every row has to be told at once.
    */
  def firstRowFor(target: Long): Long = Long.MinValue

  /** The earliest clock value at which, without more rows, the watermark is at `target` or above.
    *
    * A clock value that has passed means that it is there already, `Never` that it never will be.
    */
  def dueAt(target: Long): Long

  def save(out: DataOutput): Unit

  /** Takes over what `save` wrote, possibly under other parameters; only for a new instance. */
  def restore(in: DataInput): Unit
}

object WatermarkPolicy {

  /** A clock value that has passed, whatever the clock: for policies that have none. */
  private[watermark] val Already: Long = Long.MinValue

  /** The clock value at which nothing is due. */
  private[kernel] val Never: Long = Long.MaxValue

  /** The answer of `dueAt` where only rows can move the watermark. */
  private[watermark] def onlyByRows(policy: WatermarkPolicy, target: Long): Long =
    if (policy.known && policy.watermark >= target) Already else Never
}
