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
    CombinedPolicy(spec.children, highest = false)
}
