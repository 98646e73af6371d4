package io.eventtide.kernel.watermark

/** Follows the lowest event time of each batch.
  *
  *   - '''Guarantee:''' a batch never makes its own rows late; the watermark never goes back.
  *   - '''Units:''' any; the clock has no effect.
  *   - '''Edges:''' no watermark before the first batch. The watermark depends on the batch
  *     boundaries, by definition: a single row is a batch of one.
  *   - '''Restart:''' continues from the saved watermark.
  *   - '''Source:''' VoltSP's `WatermarkStrategy.MIN_EVENT_TIME`.
  */
final case class MinEventTime() extends PolicySpec {
  def name: String = MinEventTime.name

  override def usesLowest: Boolean = true

  def create(): WatermarkPolicy = new BatchMinMaxPolicy(highest = false)
}

object MinEventTime extends PolicyFactory {
  def name: String = "min_event_time"

  def doc: String = "follows the lowest event time of each batch"

  def params: Seq[ParamSpec] = Nil

  def read(arguments: PolicyArguments): PolicySpec = MinEventTime()
}
