package io.eventtide.kernel.watermark

/** The registry of policies. A new policy needs one file and one line here. */
object Policies {
  val all: Seq[PolicyKind] = Seq(
    WithFixedLag,
    LimitingLagAndDelay,
    LimitingLagAndLull,
    LimitingTimestampAndWallClockLag,
    LimitingRealTimeLag,
    WithIngestionTime,
    MinEventTime,
    MinEventTimeOfAll,
    MaxEventTime,
    StormLag,
    MinOf,
    MaxOf,
    BySubstream
  )
}
