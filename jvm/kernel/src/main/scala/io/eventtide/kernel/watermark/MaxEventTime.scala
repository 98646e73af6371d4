package io.eventtide.kernel.watermark

/** Follows the highest event time of each batch.
  *
  *   - '''Guarantee:''' after a batch nothing below its highest time is expected; never back.
  *   - '''Units:''' any. The clock does not matter.
  *   - '''Edges:''' no watermark before the first batch. Disorder inside a batch is free, disorder
  *     between batches is late.
  *   - '''Restart:''' goes on where it stopped.
  *   - '''Source:''' VoltSP's `WatermarkStrategy.MAX_EVENT_TIME`.
  */
final case class MaxEventTime() extends PolicySpec {
  def name: String = MaxEventTime.name

  def create(): WatermarkPolicy = new BatchMinMaxPolicy(highest = true)
}

object MaxEventTime extends PolicyFactory {
  def name: String = "max_event_time"

  def doc: String = "follows the highest event time of each batch"

  def params: Seq[ParamSpec] = Nil

  def read(arguments: PolicyArguments): PolicySpec = MaxEventTime()
}
