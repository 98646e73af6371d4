package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion

/** The instance of `MinEventTime`, `MinEventTimeOfAll` and `MaxEventTime`: the extreme of each
  * batch, which never goes back.
  *
  *   - '''Guarantee:''' moves at most once per batch, to its lowest or highest event time.
  *   - '''Edges:''' a single row is a batch of one.
  *   - '''Restart:''' format 1: known, watermark.
  */
private[watermark] final class BatchMinMaxPolicy(highest: Boolean) extends WatermarkPolicy {
  private var seen = false
  private var current = Long.MinValue // not read while `seen` is false

  def known: Boolean = seen

  def watermark: Long = current

  def observe(now: Long, ts: Long): Unit = {
    seen = true
    current = Math.max(current, ts)
  }

  override def observe(now: Long, maxTs: Long, minTs: Long): Unit =
    observe(now, if (highest) maxTs else minTs)

  override def firstRowFor(target: Long): Long = target

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    out.writeBoolean(seen)
    out.writeLong(current)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "batch extreme", known = 1)
    seen = in.readBoolean()
    current = in.readLong()
  }
}
