package io.eventtide.kernel.watermark

import io.eventtide.kernel.time.Clamped

/** Stays at most one lag behind the highest event time, and at most a second lag behind the clock.
  *
  *   - '''Guarantee:''' the watermark is the higher of the two limits.
  *   - '''Units:''' event time is the clock's time: same unit, same epoch, synchronized.
  *   - '''Edges:''' known from the first tick, before any row. A row with a future time moves the
  *     watermark ahead of the clock; `FutureGuard` prevents this.
  *   - '''Restart:''' skipped time does not move the watermark; the first tick after it does, by
  *     the whole distance.
  *   - '''Source:''' Jet 0.5 `limitingTimestampAndWallClockLag`.
  */
object LimitingTimestampAndWallClockLag
    extends PolicyKind(
      "limiting_timestamp_and_wall_clock_lag",
      ParamSpec.duration("timestamp_lag", "how far an event may be behind the highest one"),
      ParamSpec.duration("wall_clock_lag", "how far the watermark may be behind the clock")
    ) {
  def apply(timestampLag: Long, wallClockLag: Long): PolicySpec =
    PolicySpec(this, Seq(timestampLag, wallClockLag))

  override def movesWithClock: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy = {
    val wallClockLag = spec.values(1)
    val byClock = new RealTimeLagPolicy(Clamped.add(wallClockLag, spec.ahead))
    new CombinedPolicy(Array(new FixedLagPolicy(spec.lag), byClock), highest = true)
  }
}
