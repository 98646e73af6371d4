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
        Math.toIntExact(config.longOr("stored_samples", LagAndDelayPolicy.DefaultSamples.toLong))
      )
    case "lag_and_lull" => LimitingLagAndLull(config.long("lag"), config.long("max_lull_ms"))
    case "timestamp_and_wall_clock_lag" =>
      LimitingTimestampAndWallClockLag(config.long("timestamp_lag"), config.long("wall_clock_lag"))
    case "real_time_lag" => LimitingRealTimeLag(config.long("lag"))
    case "constant" => Constant(config.long("value"))
    case other => throw new GoldenWaiting(s"no policy $other")
  }
}

object PolicyPlayer {
  import Form._

  private val parameters: Map[String, Fields] = Map(
    "fixed_lag" -> fields("lag" -> number),
    "lag_and_delay" -> fields(
      "lag" -> number,
      "max_delay_ns" -> number,
      "stored_samples" -> number.optional
    ),
    "lag_and_lull" -> fields("lag" -> number, "max_lull_ms" -> number),
    "timestamp_and_wall_clock_lag" -> fields("timestamp_lag" -> number, "wall_clock_lag" -> number),
    "real_time_lag" -> fields("lag" -> number),
    "constant" -> fields("value" -> number)
  )

  /** The parameters of a policy, as the files name it. */
  def parametersOf(kind: String): Fields =
    parameters.getOrElse(kind, throw new GoldenWaiting(s"no policy $kind"))

  def words(kind: String): Vocabulary = Vocabulary(
    parametersOf(kind) ++ fields("initial_clock_ns" -> number.optional),
    answer = number
  )(
    "clock" -> fields("ns" -> number.optional, "ms" -> number.optional),
    "event" -> fields("ts" -> number),
    "tick" -> fields()
  )
}

/** `policy.*`: a clock, rows and ticks. */
final class PolicyPlayer(kind: String, config: GoldenArgs) extends GoldenPlayer {
  private val policy = GoldenPolicies.spec(kind, config).create()
  private var now = inUnit(config.longOr("initial_clock_ns", 0))

  def step(op: String, args: GoldenArgs): Any = op match {
    case "clock" => now = clockOf(args)
    case "event" => policy.observe(now, args.long("ts")); answer
    case "tick" => policy.tick(now); answer
    case other => throw new UnknownStep(other)
  }

  private def clockOf(args: GoldenArgs): Long = (args.has("ns"), args.has("ms")) match {
    case (true, false) => inUnit(args.long("ns"))
    case (false, true) => args.long("ms")
    case _ => throw new GoldenWaiting("clock: not one of ns and ms")
  }

  private def answer: Long = GoldenUnknown(policy.known, policy.watermark)

  /** Times are fed as they are, but lull's are milliseconds. */
  private def inUnit(ns: Long): Long =
    if (kind == "lag_and_lull") Math.floorDiv(ns, 1000000L) else ns
}

/** A policy that knows its watermark without rows; the mapper's cases have one. */
object Constant extends PolicyKind("constant", ParamSpec("value", ParamKind.Count, 0, "")) {
  def apply(value: Long): PolicySpec = PolicySpec(this, Seq(value))

  override def movesWithClock: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy = new WatermarkPolicy {
    private val value = spec.values.head
    def observe(now: Long, ts: Long): Unit = ()
    def known: Boolean = true
    def watermark: Long = value
    def save(out: java.io.DataOutput): Unit = ()
    def restore(in: java.io.DataInput): Unit = ()
  }
}
