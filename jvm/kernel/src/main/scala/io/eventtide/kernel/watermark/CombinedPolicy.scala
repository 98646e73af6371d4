package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion

/** The lowest or the highest watermark of several policies over the same substream.
  *
  *   - '''Guarantee:''' loops over an array, so that a row allocates nothing.
  *   - '''Edges:''' the lowest watermark is unknown while one policy's is; the highest, while all
  *     are.
  *   - '''Restart:''' format 1: the states of the child policies, in order; `structure` identifies
  *     them.
  */
private[watermark] final class CombinedPolicy(inside: Array[WatermarkPolicy], highest: Boolean)
    extends WatermarkPolicy {

  def known: Boolean = {
    var i = 0
    while (i < inside.length && inside(i).known != highest) i += 1
    (i < inside.length) == highest
  }

  def watermark: Long = {
    var value = if (highest) Long.MinValue else Long.MaxValue
    var i = 0
    while (i < inside.length) {
      if (inside(i).known) value = combine(value, inside(i).watermark)
      i += 1
    }
    value
  }

  override def knownAt(now: Long): Boolean = {
    var i = 0
    while (i < inside.length && inside(i).knownAt(now) != highest) i += 1
    (i < inside.length) == highest
  }

  override def watermarkAt(now: Long): Long = {
    var value = if (highest) Long.MinValue else Long.MaxValue
    var i = 0
    while (i < inside.length) {
      if (inside(i).knownAt(now)) value = combine(value, inside(i).watermarkAt(now))
      i += 1
    }
    value
  }

  override def tick(now: Long): Unit = {
    var i = 0
    while (i < inside.length) { inside(i).tick(now); i += 1 }
  }

  override def skip(now: Long): Unit = inside.foreach(_.skip(now))

  def observe(now: Long, ts: Long): Unit = observe(now, ts, ts)

  override def observe(now: Long, maxTs: Long, minTs: Long): Unit = {
    var i = 0
    while (i < inside.length) { inside(i).observe(now, maxTs, minTs); i += 1 }
  }

  override def observeMark(mark: Long): Unit = inside.foreach(_.observeMark(mark))

  private[kernel] override def learn(lag: Long): Unit = inside.foreach(_.learn(lag))

  /** The minimum over the child policies, whether or not other children delay the watermark. */
  override def firstRowFor(target: Long): Long = {
    var lowest = Long.MaxValue
    var i = 0
    while (i < inside.length) {
      lowest = Math.min(lowest, inside(i).firstRowFor(target))
      i += 1
    }
    lowest
  }

  /** The child policies' first due time for the highest watermark, the last for the lowest. */
  override def dueAt(target: Long): Long = {
    var due = inside(0).dueAt(target)
    var i = 1
    while (i < inside.length) {
      val other = inside(i).dueAt(target)
      due = if (highest) Math.min(due, other) else Math.max(due, other)
      i += 1
    }
    due
  }

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    inside.foreach(_.save(out))
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "policy algebra", known = 1)
    inside.foreach(_.restore(in))
  }

  private def combine(a: Long, b: Long): Long = if (highest) Math.max(a, b) else Math.min(a, b)
}

private[watermark] object CombinedPolicy {
  def apply(children: Seq[PolicySpec], highest: Boolean): CombinedPolicy =
    new CombinedPolicy(children.map(_.create()).toArray, highest)
}
