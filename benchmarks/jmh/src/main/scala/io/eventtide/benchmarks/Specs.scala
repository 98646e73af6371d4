package io.eventtide.benchmarks

import io.eventtide.kernel.watermark._

/** Every policy by its name, with parameters that suit the events. */
object Specs {
  private val all: Seq[PolicySpec] = Seq(
    WithFixedLag(Events.Lag),
    LimitingLagAndDelay(Events.Lag, 60000),
    LimitingLagAndLull(Events.Lag, 60000),
    LimitingTimestampAndWallClockLag(Events.Lag, 60000),
    LimitingRealTimeLag(60000),
    StormLag(Events.Lag),
    WithIngestionTime(),
    MinEventTime(),
    MaxEventTime()
  )

  def named(name: String): PolicySpec = all.find(_.name == name).get
}
