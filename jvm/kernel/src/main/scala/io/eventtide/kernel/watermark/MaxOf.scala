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
    CombinedPolicy(spec.children, highest = true)
}
