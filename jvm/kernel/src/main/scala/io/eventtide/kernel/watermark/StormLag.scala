package io.eventtide.kernel.watermark

/** Storm's rule: the lowest of the highest times of the input streams, minus the lag.
  *
  *   - '''Guarantee:''' each input stream is one substream; no watermark before every stream has
  *     had a row.
  *   - '''Units:''' any; the lag is in the unit of event time. The clock has no effect.
  *   - '''Edges:''' the streams must be declared (`needsDeclaredSubstreams`), because an undeclared
  *     stream without rows cannot delay the watermark.
  *   - '''Restart:''' as `WithFixedLag`.
  *   - '''Source:''' Storm's `WaterMarkEventGenerator`; its timer is `EmitEvery`.
  */
object StormLag
    extends PolicyKind(
      "storm",
      ParamSpec.duration("lag", "how far an event may be behind the highest of its stream")
    ) {
  def apply(lag: Long): PolicySpec = PolicySpec(this, Seq(lag))

  override def needsDeclaredSubstreams: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy = new FixedLagPolicy(spec.lag)
}
