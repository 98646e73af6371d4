package io.eventtide.kernel.watermark

/** Follows the lowest event time of each batch, including late rows.
  *
  *   - '''Guarantee:''' as `MinEventTime`; a batch with a row behind the watermark does not move
  *     it.
  *   - '''Units:''' any; the clock has no effect.
  *   - '''Edges:''' as `MinEventTime`. A source whose rows are always late stops the watermark.
  *     Inside `min_of` or `max_of`, late rows count for all child policies.
  *   - '''Restart:''' continues from the saved watermark.
  *   - '''Source:''' VoltSP's `MIN_EVENT_TIME`, in one reading of its documentation.
  */
object MinEventTimeOfAll extends PolicyKind("min_event_time_of_all") {
  def apply(): PolicySpec = PolicySpec(this)

  override def usesLowest: Boolean = true

  override def usesLate: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy = new BatchMinMaxPolicy(highest = false)
}
