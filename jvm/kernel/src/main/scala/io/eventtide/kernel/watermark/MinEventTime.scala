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
object MinEventTime extends PolicyKind("min_event_time") {
  def apply(): PolicySpec = PolicySpec(this)

  override def usesLowest: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy = new BatchMinMaxPolicy(highest = false)
}
