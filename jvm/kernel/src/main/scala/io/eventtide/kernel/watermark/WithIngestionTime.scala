package io.eventtide.kernel.watermark

import io.eventtide.kernel.time.Clamped

/** For rows that are stamped with the clock when they are read: the watermark is the clock.
  *
  *   - '''Guarantee:''' a row stamped with the `now` it is observed at is never late.
  *   - '''Units:''' event time is the clock's time.
  *   - '''Edges:''' as `LimitingRealTimeLag` with no lag. Stamp the batch's own time, so that a row
  *     that is read again after a crash has the same time.
  *   - '''Restart:''' as `LimitingRealTimeLag`.
  *   - '''Source:''' Jet 4.3 `withIngestionTimestamps`.
  *
  * @param ahead how far the clock is ahead of the time that rows are stamped with
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
