package io.eventtide.kernel.watermark

/** Follows the highest event time of each batch.
  *
  *   - '''Guarantee:''' after a batch, no event below its highest time is expected; the watermark
  *     never goes back.
  *   - '''Units:''' any; the clock has no effect.
  *   - '''Edges:''' no watermark before the first batch. Disorder within a batch is allowed; rows
  *     behind an earlier batch are late.
  *   - '''Restart:''' continues from the saved watermark.
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
