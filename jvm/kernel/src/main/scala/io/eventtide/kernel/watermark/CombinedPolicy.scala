package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion

/** Base of policies that combine others: forwards every call to every child policy.
  *
  *   - '''Guarantee:''' loops over an array, so that a row allocates nothing.
  *   - '''Restart:''' format 1: the states of the child policies, in order; `structure` identifies
  *     them.
  */
private[watermark] abstract class CombinedPolicy(inside: Array[WatermarkPolicy])
    extends WatermarkPolicy {

  final def tick(now: Long): Unit = {
    var i = 0
    while (i < inside.length) { inside(i).tick(now); i += 1 }
  }

  final def skip(now: Long): Unit = inside.foreach(_.skip(now))

  final def observe(now: Long, ts: Long): Unit = {
    var i = 0
    while (i < inside.length) { inside(i).observe(now, ts); i += 1 }
  }

  final def observe(now: Long, maxTs: Long, minTs: Long): Unit = {
    var i = 0
    while (i < inside.length) { inside(i).observe(now, maxTs, minTs); i += 1 }
  }

  /** The minimum over the child policies, whether or not other children hold the watermark back. */
  final override def firstRowFor(target: Long): Long = {
    var lowest = Long.MaxValue
    var i = 0
    while (i < inside.length) {
      lowest = Math.min(lowest, inside(i).firstRowFor(target))
      i += 1
    }
    lowest
  }

  final def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    inside.foreach(_.save(out))
  }

  final def restore(in: DataInput): Unit = {
    StateVersion.read(in, "policy algebra", newest = 1)
    inside.foreach(_.restore(in))
  }
}
