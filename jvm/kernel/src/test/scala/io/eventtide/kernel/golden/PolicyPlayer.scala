package io.eventtide.kernel.golden

import io.eventtide.kernel.watermark._

/** The policies that the files name, made from a case's config. */
object GoldenPolicies {

  /** Makes the policy of that kind, `max_delay` and `max_lull` in the unit of the case's clock. */
  def spec(kind: String, config: GoldenArgs): PolicySpec = kind match {
    case "fixed_lag" => WithFixedLag(config.long("lag"))
    case "lag_and_delay" =>
      LimitingLagAndDelay(
        config.long("lag"),
        config.long("max_delay_ns"),
        Math.toIntExact(config.longOr("stored_samples", LimitingLagAndDelay.DefaultSamples.toLong))
      )
    case "lag_and_lull" => LimitingLagAndLull(config.long("lag"), config.long("max_lull_ms"))
    case "timestamp_and_wall_clock_lag" =>
      LimitingTimestampAndWallClockLag(config.long("timestamp_lag"), config.long("wall_clock_lag"))
    case "real_time_lag" => LimitingRealTimeLag(config.long("lag"))
    case "constant" => Constant(config.long("value"))
    case other => throw new GoldenMismatch(s"unknown policy: $other")
  }
}

/** `policy.*`: a clock, rows and ticks. */
final class PolicyPlayer(kind: String, config: GoldenArgs) extends GoldenPlayer {
  private val policy = GoldenPolicies.spec(kind, config).create()
  private var now = inUnit(config.longOr("initial_clock_ns", 0))

  def step(op: String, args: GoldenArgs): Any = op match {
    case "clock" => now = if (args.has("ns")) inUnit(args.long("ns")) else args.long("ms")
    case "event" => policy.observe(now, args.long("ts")); answer
    case "tick" => policy.tick(now); answer
    case other => throw new UnknownStep(other)
  }

  private def answer: Long = GoldenUnknown(policy.known, policy.watermark)

  /** Times are fed as they are, but lull's are milliseconds. */
  private def inUnit(ns: Long): Long =
    if (kind == "lag_and_lull") Math.floorDiv(ns, 1000000L) else ns
}

/** A policy that knows its watermark without rows; the mapper's cases have one. */
final case class Constant(value: Long) extends PolicySpec {
  def name: String = "constant"

  override def movesWithClock: Boolean = true

  def create(): WatermarkPolicy = new WatermarkPolicy {
    def tick(now: Long): Unit = ()
    def skip(now: Long): Unit = ()
    def observe(now: Long, ts: Long): Unit = ()
    def observe(now: Long, maxTs: Long, minTs: Long): Unit = ()
    def known: Boolean = true
    def watermark: Long = value
    def dueAt(target: Long): Option[Long] = Option.when(target <= value)(Long.MinValue)
    def save(out: java.io.DataOutput): Unit = ()
    def restore(in: java.io.DataInput): Unit = ()
  }
}
