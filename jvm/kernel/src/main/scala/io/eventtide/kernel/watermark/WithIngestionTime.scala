package io.eventtide.kernel.watermark

/** For rows that are stamped with the clock when they are read: the watermark is the clock.
  *
  *   - '''Guarantee:''' a row stamped with the `now` of its `observe` call is never late.
  *   - '''Units:''' event time is the clock's time.
  *   - '''Edges:''' as `LimitingRealTimeLag` without a lag. Stamp rows with the batch's time, so
  *     that a replayed row has the same time.
  *   - '''Restart:''' as `LimitingRealTimeLag`.
  *   - '''Source:''' Jet 4.3 `withIngestionTimestamps`.
  */
object WithIngestionTime extends PolicyKind("with_ingestion_time") {
  def apply(): PolicySpec = PolicySpec(this)

  override def movesWithClock: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy = new RealTimeLagPolicy(spec.ahead)
}
