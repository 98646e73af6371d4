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
  private val extreme = new MonotonicMax

  def known: Boolean = extreme.known

  def watermark: Long = extreme.value

  def observe(now: Long, ts: Long): Unit = extreme.raise(ts): Unit

  override def observe(now: Long, maxTs: Long, minTs: Long): Unit =
    observe(now, if (highest) maxTs else minTs)

  override def firstRowFor(target: Long): Long = target

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    extreme.save(out)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "batch extreme", known = 1)
    extreme.restore(in)
  }
}
