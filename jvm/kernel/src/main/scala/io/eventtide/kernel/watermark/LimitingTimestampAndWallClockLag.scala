package io.eventtide.kernel.watermark

import io.eventtide.kernel.time.Clamped

/** Stays at most one lag behind the highest event time and at most another lag behind the clock.
  *
  *   - '''Guarantee:''' the watermark is the higher of the two limits.
  *   - '''Units:''' event time is the clock's time: same unit, same epoch, synchronized.
  *   - '''Edges:''' known from the first tick, before any row. A row with a future time moves the
  *     watermark ahead of the clock; `FutureGuard` prevents this.
  *   - '''Restart:''' skipped time does not move the watermark; the first tick after it does, by
  *     the whole distance.
  *   - '''Source:''' Jet 0.5 `limitingTimestampAndWallClockLag`.
  *
  * @param timestampLag allowed disorder, zero or more
  * @param wallClockLag largest distance behind the clock, zero or more
  */
final case class LimitingTimestampAndWallClockLag(timestampLag: Long, wallClockLag: Long)
    extends PolicySpec {
  LimitingTimestampAndWallClockLag.TimestampLag.check(timestampLag)
  LimitingTimestampAndWallClockLag.WallClockLag.check(wallClockLag)

  def name: String = LimitingTimestampAndWallClockLag.name

  override def parameters: Seq[(String, Long)] =
    Seq("timestamp_lag" -> timestampLag, "wall_clock_lag" -> wallClockLag)

  override def lag: Long = timestampLag

  override def movesWithClock: Boolean = true

  override def forClockAhead(by: Long): PolicySpec =
    copy(wallClockLag = Clamped.add(wallClockLag, by))

  def create(): WatermarkPolicy = new MaxOfPolicy(
    Array(new FixedLagPolicy(timestampLag), new RealTimeLagPolicy(wallClockLag))
  )
}

object LimitingTimestampAndWallClockLag extends PolicyFactory {
  val TimestampLag: ParamSpec =
    ParamSpec.duration("timestamp_lag", "how far an event may be behind the highest one")

  val WallClockLag: ParamSpec =
    ParamSpec.duration("wall_clock_lag", "how far the watermark may be behind the clock")

  def name: String = "limiting_timestamp_and_wall_clock_lag"

  def doc: String = "behind the highest event time by one lag, behind the clock by another at most"

  def params: Seq[ParamSpec] = Seq(TimestampLag, WallClockLag)

  def read(arguments: PolicyArguments): PolicySpec = LimitingTimestampAndWallClockLag(
    arguments.long(TimestampLag),
    arguments.long(WallClockLag)
  )
}
