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
final case class MinEventTimeOfAll() extends PolicySpec {
  def name: String = MinEventTimeOfAll.name

  override def usesLowest: Boolean = true

  override def usesLate: Boolean = true

  def create(): WatermarkPolicy = new BatchMinMaxPolicy(highest = false)
}

object MinEventTimeOfAll extends PolicyFactory {
  def name: String = "min_event_time_of_all"

  def doc: String = "follows the lowest event time of each batch, that of late rows included"

  def params: Seq[ParamSpec] = Nil

  def read(arguments: PolicyArguments): PolicySpec = MinEventTimeOfAll()
}
