package io.eventtide.kernel.watermark

/** Storm's rule: the lowest of the highest times of the input streams, minus the lag.
  *
  *   - '''Guarantee:''' each input stream is one substream; no watermark before every stream has
  *     had a row.
  *   - '''Units:''' any; the lag is in the unit of event time. The clock has no effect.
  *   - '''Edges:''' the streams must be declared (`needsDeclaredSubstreams`), because an undeclared
  *     stream without rows cannot hold the others back.
  *   - '''Restart:''' as `WithFixedLag`.
  *   - '''Source:''' Storm's `WaterMarkEventGenerator`; its timer is `EmitEvery`.
  *
  * @param lag allowed disorder, zero or more
  */
final case class StormLag(override val lag: Long) extends PolicySpec {
  StormLag.Lag.check(lag)

  def name: String = StormLag.name

  override def parameters: Seq[(String, Long)] = Seq("lag" -> lag)

  override def needsDeclaredSubstreams: Boolean = true

  def create(): WatermarkPolicy = new FixedLagPolicy(lag)
}

object StormLag extends PolicyFactory {
  val Lag: ParamSpec =
    ParamSpec.duration("lag", "how far an event may be behind the highest of its stream")

  def name: String = "storm"

  def doc: String = "the lowest of the highest times of the declared streams, minus lag"

  def params: Seq[ParamSpec] = Seq(Lag)

  def read(arguments: PolicyArguments): PolicySpec = StormLag(arguments.long(Lag))
}
