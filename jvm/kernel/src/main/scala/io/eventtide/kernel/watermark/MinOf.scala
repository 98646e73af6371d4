package io.eventtide.kernel.watermark

/** The lowest watermark of several policies over the same substream.
  *
  *   - '''Guarantee:''' never ahead of any child policy.
  *   - '''Units:''' the units of the child policies.
  *   - '''Edges:''' unknown while any child policy is unknown.
  *   - '''Restart:''' as the child policies.
  *   - '''Source:''' Eventtide.
  */
object MinOf extends PolicyKind("min_of") {
  def apply(children: Seq[PolicySpec]): PolicySpec = PolicySpec(this, children = children)

  override def takesChildren: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy =
    new MinOfPolicy(spec.children.map(_.create()).toArray)
}

/** The instance of `MinOf`. */
private[watermark] final class MinOfPolicy(inside: Array[WatermarkPolicy])
    extends CombinedPolicy(inside) {

  def known: Boolean = {
    var i = 0
    while (i < inside.length && inside(i).known) i += 1
    i == inside.length
  }

  def watermark: Long = {
    var lowest = inside(0).watermark
    var i = 1
    while (i < inside.length) { lowest = Math.min(lowest, inside(i).watermark); i += 1 }
    lowest
  }

  override def knownAt(now: Long): Boolean = {
    var i = 0
    while (i < inside.length && inside(i).knownAt(now)) i += 1
    i == inside.length
  }

  override def watermarkAt(now: Long): Long = {
    var lowest = inside(0).watermarkAt(now)
    var i = 1
    while (i < inside.length) { lowest = Math.min(lowest, inside(i).watermarkAt(now)); i += 1 }
    lowest
  }

  /** The latest due time of the child policies. */
  def dueAt(target: Long): Long = {
    var last = Long.MinValue
    var i = 0
    while (i < inside.length) { last = Math.max(last, inside(i).dueAt(target)); i += 1 }
    last
  }
}
