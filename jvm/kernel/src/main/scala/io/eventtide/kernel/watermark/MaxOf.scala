package io.eventtide.kernel.watermark

/** The highest watermark of several policies over the same substream.
  *
  *   - '''Guarantee:''' never behind any child policy.
  *   - '''Units:''' the units of the child policies.
  *   - '''Edges:''' policies without a watermark are ignored; unknown while all are unknown.
  *   - '''Restart:''' as the child policies.
  *   - '''Source:''' Eventtide.
  */
object MaxOf extends PolicyKind("max_of") {
  def apply(children: Seq[PolicySpec]): PolicySpec = PolicySpec(this, children = children)

  override def takesChildren: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy =
    new MaxOfPolicy(spec.children.map(_.create()).toArray)
}

/** The instance of `MaxOf`, and of a policy whose rule is a maximum of two simpler ones. */
private[watermark] final class MaxOfPolicy(inside: Array[WatermarkPolicy])
    extends CombinedPolicy(inside) {

  def known: Boolean = {
    var i = 0
    while (i < inside.length && !inside(i).known) i += 1
    i < inside.length
  }

  def watermark: Long = {
    var highest = Long.MinValue // at or below every watermark, so it does not change the maximum
    var i = 0
    while (i < inside.length) {
      if (inside(i).known) highest = Math.max(highest, inside(i).watermark)
      i += 1
    }
    highest
  }

  override def knownAt(now: Long): Boolean = {
    var i = 0
    while (i < inside.length && !inside(i).knownAt(now)) i += 1
    i < inside.length
  }

  override def watermarkAt(now: Long): Long = {
    var highest = Long.MinValue
    var i = 0
    while (i < inside.length) {
      if (inside(i).knownAt(now)) highest = Math.max(highest, inside(i).watermarkAt(now))
      i += 1
    }
    highest
  }

  /** The earliest due time of the child policies. */
  def dueAt(target: Long): Long = {
    var first = WatermarkPolicy.Never
    var i = 0
    while (i < inside.length) { first = Math.min(first, inside(i).dueAt(target)); i += 1 }
    first
  }
}
