package io.eventtide.kernel.watermark

import io.eventtide.kernel.time.Clamped

/** For rows that are stamped with the clock when they are read: the watermark is the clock.
  *
  *   - '''Guarantee:''' a row stamped with the `now` of its `observe` call is never late.
  *   - '''Units:''' event time is the clock's time.
  *   - '''Edges:''' as `LimitingRealTimeLag` without a lag. Stamp rows with the batch's time, so
  *     that a replayed row has the same time.
  *   - '''Restart:''' as `LimitingRealTimeLag`.
  *   - '''Source:''' Jet 4.3 `withIngestionTimestamps`.
  *
  * @param ahead distance of the clock ahead of the time that rows are stamped with
  */
final case class WithIngestionTime(ahead: Long = 0) extends PolicySpec {
  def name: String = WithIngestionTime.name

  override def movesWithClock: Boolean = true

  override def forClockAhead(by: Long): PolicySpec = WithIngestionTime(Clamped.add(ahead, by))

  def create(): WatermarkPolicy = new RealTimeLagPolicy(ahead)
}

object WithIngestionTime extends PolicyFactory {
  def name: String = "with_ingestion_time"

  def doc: String = "the row's time is the clock when it is read; the watermark is the clock"

  def params: Seq[ParamSpec] = Nil

  def read(arguments: PolicyArguments): PolicySpec = WithIngestionTime()
}
