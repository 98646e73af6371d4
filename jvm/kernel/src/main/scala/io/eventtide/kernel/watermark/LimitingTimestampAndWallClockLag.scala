package io.eventtide.kernel.watermark

import io.eventtide.kernel.time.Clamped

/** Stays at most one lag behind the highest event time and at most another behind the clock.
  *
  *   - '''Guarantee:''' the higher of the two limits; neither takes the other back.
  *   - '''Units:''' event time is the clock's time: one unit, one epoch, synchronised.
  *   - '''Edges:''' known from the first tick, before any row. A row from the future drags the
  *     watermark ahead of the clock; `FutureGuard` is against that.
  *   - '''Restart:''' skipped time does not move it; the first tick after it does, by all of it.
  *   - '''Source:''' Jet 0.5 `limitingTimestampAndWallClockLag`.
  *
  * @param timestampLag allowed disorder, zero or more
  * @param wallClockLag how far it may be behind the clock, zero or more
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
