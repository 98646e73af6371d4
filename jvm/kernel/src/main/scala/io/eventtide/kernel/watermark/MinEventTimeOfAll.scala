package io.eventtide.kernel.watermark

/** Follows the lowest event time of each batch, that of late rows included.
  *
  *   - '''Guarantee:''' as `MinEventTime`; a batch with a row behind the watermark does not move it.
  *   - '''Units:''' any. The clock does not matter.
  *   - '''Edges:''' as `MinEventTime`. A source that is always late stops it. Among others, in `min_of`
  *     and `max_of`, late rows count for all of them.
  *   - '''Restart:''' goes on where it stopped.
  *   - '''Source:''' VoltSP's `MIN_EVENT_TIME`, as its text can be read.
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
