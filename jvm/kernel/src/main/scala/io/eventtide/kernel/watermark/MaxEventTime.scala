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
object MaxEventTime extends PolicyKind("max_event_time") {
  def apply(): PolicySpec = PolicySpec(this)

  def create(spec: PolicySpec): WatermarkPolicy = new BatchMinMaxPolicy(highest = true)
}
