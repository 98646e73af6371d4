package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.{InvalidArgument, StateVersion}

/** What the algebra over policies shares: every call goes to every policy inside.
  *
  *   - '''Guarantee:''' loops over an array, so that a row allocates nothing.
  *   - '''Restart:''' format 1: the policies inside, in order; `structure` says which.
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

  /** That of the policy which needs the least, whether or not the others hold it back. */
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

private[watermark] object CombinedPolicy {

  /** The policies inside, of which there must be one. */
  def check(name: String, children: Seq[PolicySpec]): Unit =
    if (children.isEmpty)
      throw new InvalidArgument(s"policies inside $name", 0, "one or more")

  def create(children: Seq[PolicySpec]): Array[WatermarkPolicy] = children.map(_.create()).toArray
}
