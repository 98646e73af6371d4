package io.eventtide.kernel.watermark

/** Follows the lowest event time of each batch.
  *
  *   - '''Guarantee:''' no row of a batch is behind what the batch itself adds; never back.
  *   - '''Units:''' any. The clock does not matter.
  *   - '''Edges:''' no watermark before the first batch. It depends on where batches are cut, by
  *     definition: a single row is a batch of one.
  *   - '''Restart:''' goes on where it stopped.
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
