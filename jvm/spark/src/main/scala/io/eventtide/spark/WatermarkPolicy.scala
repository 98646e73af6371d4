package io.eventtide.spark

import java.time.Duration
import java.util.{Map => JMap}

import scala.annotation.varargs
import scala.jdk.CollectionConverters._

import io.eventtide.spark.options.{PolicyText, SettingText, WindowConflicts}
import io.eventtide.spark.policies.PolicyErrors

/** A watermark policy and its decorators. `WatermarkPolicy` has a factory for each policy, and each
  * method returns the policy with one more decorator.
  *
  * {{{
  *   WatermarkPolicy.limitingLagAndLull("5s", "30s").throttleByFrame("1s")
  * }}}
  *
  *   - '''Units:''' durations are text such as `5s`, `1h 30m` or `PT5S`, or `java.time.Duration`.
  *     They are zero or more unless noted otherwise.
  *   - '''Edges:''' an invalid duration throws an [[EventtideException]], `INVALID_DURATION`.
  *   - '''Source:''' the rules are those of Jet 0.5; docs/reference/policies.md has a timeline for
  *     each policy.
  */
final class WatermarkPolicy private (private[spark] val options: Map[String, String]) {

  /** Emits the watermark when it enters a new frame; `size` is at least a millisecond. */
  def throttleByFrame(size: String): WatermarkPolicy = throttleByFrame(size, "0s")

  /** Emits the watermark when it enters a new frame. Frames begin `offset` after the epoch. */
  def throttleByFrame(size: String, offset: String): WatermarkPolicy =
    decorated("throttle_by_frame", "size" -> size, "offset" -> offset)

  /** As with text. */
  def throttleByFrame(size: Duration): WatermarkPolicy = throttleByFrame(SettingText.text(size))

  /** As with text. */
  def throttleByFrame(size: Duration, offset: Duration): WatermarkPolicy =
    throttleByFrame(SettingText.text(size), SettingText.text(offset))

  /** Emits the watermark when it has advanced by `step`, which is at least a millisecond. */
  def throttleByMinStep(step: String): WatermarkPolicy =
    decorated("throttle_by_min_step", "step" -> step)

  /** As with text. */
  def throttleByMinStep(step: Duration): WatermarkPolicy = throttleByMinStep(SettingText.text(step))

  /** Emits the watermark once every `interval` of processing time, like Storm's timer. */
  def emitEvery(interval: String): WatermarkPolicy = decorated("emit_every", "interval" -> interval)

  /** As with text. */
  def emitEvery(interval: Duration): WatermarkPolicy = emitEvery(SettingText.text(interval))

  /** Prevents rows with an event time more than `maxAhead` ahead of the clock from advancing the
    * watermark: such a row is kept, and its time counts as the limit.
    */
  def guardFuture(maxAhead: String): WatermarkPolicy = guardFuture(maxAhead, "clamp")

  /** Guards against rows with an event time more than `maxAhead` ahead of the clock.
    *
    * @param on
    *   `clamp` keeps such a row and counts its time as the limit, `late` refuses the row, `fail`
    *   fails the query
    */
  def guardFuture(maxAhead: String, on: String): WatermarkPolicy =
    decorated("guard_future", "max_ahead" -> maxAhead, "on" -> on)

  /** As with text. */
  def guardFuture(maxAhead: Duration): WatermarkPolicy = guardFuture(SettingText.text(maxAhead))

  /** As with text. */
  def guardFuture(maxAhead: Duration, on: String): WatermarkPolicy =
    guardFuture(SettingText.text(maxAhead), on)

  private def decorated(name: String, parameters: (String, String)*): WatermarkPolicy = {
    val prefix = s"decorators.$decorators"
    val added = PolicyText.decorator(name, parameters.toMap).map { case (key, value) =>
      s"$prefix.$key" -> value
    }
    new WatermarkPolicy(options ++ added + (prefix -> name))
  }

  private def decorators: Int =
    LazyList.from(0).indexWhere(i => !options.contains(s"decorators.$i"))

  override def equals(other: Any): Boolean = other match {
    case policy: WatermarkPolicy => policy.options == options
    case _ => false
  }

  override def hashCode: Int = options.hashCode

  /** The options of the policy. */
  override def toString: String =
    options.toSeq.sorted
      .map { case (name, value) => s"$name=$value" }
      .mkString("WatermarkPolicy(", ", ", ")")
}

/** The policies, with the names of Jet's factory. */
object WatermarkPolicy {

  /** Stays `lag` behind the highest event time. */
  def withFixedLag(lag: String): WatermarkPolicy = policy("with_fixed_lag", "lag" -> lag)

  /** As with text. */
  def withFixedLag(lag: Duration): WatermarkPolicy = withFixedLag(SettingText.text(lag))

  /** Stays behind the highest event time by a lag that it learns from the late rows, so that a share
    * of the rows of the input is late, such as `0.1%`. The lag is at most an hour.
    */
  def withLateTarget(target: String): WatermarkPolicy =
    policy("with_late_target", "target" -> target)

  /** As above.
    *
    * @param maxLag
    *   the highest lag
    * @param start
    *   the lag before there are rows
    */
  def withLateTarget(target: String, maxLag: String, start: String): WatermarkPolicy =
    policy("with_late_target", "target" -> target, "max_lag" -> maxLag, "start" -> start)

  /** As with text. */
  def withLateTarget(target: String, maxLag: Duration, start: Duration): WatermarkPolicy =
    withLateTarget(target, SettingText.text(maxLag), SettingText.text(start))

  /** As above.
    *
    * @param memory
    *   the number of rows after which earlier rows count half
    * @param budget
    *   for how long late rows count against the target: `recent`, as the memory, or `forever`
    */
  def withLateTarget(
      target: String,
      maxLag: String,
      start: String,
      memory: Int,
      budget: String
  ): WatermarkPolicy = policy(
    "with_late_target",
    "target" -> target,
    "max_lag" -> maxLag,
    "start" -> start,
    "memory" -> memory.toString,
    "budget" -> budget
  )

  /** Stays `lag` behind the highest event time, and reaches a time at the latest `maxDelay` after
    * it was the highest.
    */
  def limitingLagAndDelay(lag: String, maxDelay: String): WatermarkPolicy =
    limitingLagAndDelay(lag, maxDelay, samples = 16)

  /** As above, with the number of points in time in `maxDelay` that are remembered. */
  def limitingLagAndDelay(lag: String, maxDelay: String, samples: Int): WatermarkPolicy =
    policy(
      "limiting_lag_and_delay",
      "lag" -> lag,
      "max_delay" -> maxDelay,
      "samples" -> samples.toString
    )

  /** As with text. */
  def limitingLagAndDelay(lag: Duration, maxDelay: Duration): WatermarkPolicy =
    limitingLagAndDelay(SettingText.text(lag), SettingText.text(maxDelay))

  /** As with text. */
  def limitingLagAndDelay(lag: Duration, maxDelay: Duration, samples: Int): WatermarkPolicy =
    limitingLagAndDelay(SettingText.text(lag), SettingText.text(maxDelay), samples)

  /** Stays `lag` behind the highest event time; in a lull of `maxLull`, moves on with the clock. */
  def limitingLagAndLull(lag: String, maxLull: String): WatermarkPolicy =
    policy("limiting_lag_and_lull", "lag" -> lag, "max_lull" -> maxLull)

  /** As with text. */
  def limitingLagAndLull(lag: Duration, maxLull: Duration): WatermarkPolicy =
    limitingLagAndLull(SettingText.text(lag), SettingText.text(maxLull))

  /** The higher of two watermarks: `timestampLag` behind the highest event time, and
    * `wallClockLag` behind the clock.
    */
  def limitingTimestampAndWallClockLag(
      timestampLag: String,
      wallClockLag: String
  ): WatermarkPolicy = policy(
    "limiting_timestamp_and_wall_clock_lag",
    "timestamp_lag" -> timestampLag,
    "wall_clock_lag" -> wallClockLag
  )

  /** As with text. */
  def limitingTimestampAndWallClockLag(
      timestampLag: Duration,
      wallClockLag: Duration
  ): WatermarkPolicy =
    limitingTimestampAndWallClockLag(SettingText.text(timestampLag), SettingText.text(wallClockLag))

  /** Stays at the highest event time, and at least at `lag` behind the clock. */
  def limitingRealTimeLag(lag: String): WatermarkPolicy =
    policy("limiting_real_time_lag", "lag" -> lag)

  /** As with text. */
  def limitingRealTimeLag(lag: Duration): WatermarkPolicy =
    limitingRealTimeLag(SettingText.text(lag))

  /** Follows the clock, for a column with the ingestion time; see `Eventtide.withIngestionTime`. */
  def withIngestionTime: WatermarkPolicy = policy("with_ingestion_time")

  /** The lowest event time of a batch. */
  def minEventTime: WatermarkPolicy = policy("min_event_time")

  /** The lowest event time of a batch, also of late rows. */
  def minEventTimeOfAll: WatermarkPolicy = policy("min_event_time_of_all")

  /** The highest event time. */
  def maxEventTime: WatermarkPolicy = policy("max_event_time")

  /** Storm's watermark: `lag` behind the lowest of the highest times of the declared substreams. */
  def storm(lag: String): WatermarkPolicy = policy("storm", "lag" -> lag)

  /** As with text. */
  def storm(lag: Duration): WatermarkPolicy = storm(SettingText.text(lag))

  /** Takes the watermark from a column of the rows, a TIMESTAMP that the source provides. */
  def watermarkFrom(column: String): WatermarkPolicy =
    new WatermarkPolicy(Map("policy" -> "watermark_from", "column" -> column))

  /** The lowest watermark of several policies over the same substream. */
  @varargs def minOf(policies: WatermarkPolicy*): WatermarkPolicy = combined("min_of", policies)

  /** The highest watermark of several policies over the same substream. */
  @varargs def maxOf(policies: WatermarkPolicy*): WatermarkPolicy = combined("max_of", policies)

  /** A policy for each substream, by its name.
    *
    * {{{
    *   WatermarkPolicy.bySubstream(
    *     "eu-*" -> WatermarkPolicy.withFixedLag("1m"),
    *     "*" -> WatermarkPolicy.withFixedLag("5s")
    *   )
    * }}}
    *
    * @param rules
    *   patterns and their policies. The first match decides, and the last pattern must be `*`.
    */
  def bySubstream(rules: (String, WatermarkPolicy)*): WatermarkPolicy = {
    val names = rules.zipWithIndex.map { case ((name, _), i) => s"of.$i.substream" -> name }
    new WatermarkPolicy(combined("by_substream", rules.map(_._2)).options ++ names)
  }

  /** As above, with the rules in the order of a map, such as a `LinkedHashMap`. */
  def bySubstream(rules: JMap[String, WatermarkPolicy]): WatermarkPolicy =
    bySubstream(rules.asScala.toSeq: _*)

  /** A custom policy in a jar of the session, by the name of its `CustomPolicyKind`.
    *
    * @param parameters
    *   its parameters by name: durations and counts, as text
    */
  def fromJar(name: String, parameters: (String, String)*): WatermarkPolicy = {
    parameters.find { case (parameter, _) => Reserved(parameter) }.foreach {
      case (parameter, value) =>
        val allowed = s"parameters other than ${Reserved.toSeq.sorted.mkString(", ")}"
        val fix = "Name the parameter otherwise, also in the jar"
        WindowConflicts.refuse(parameter, value, "is a reserved name", allowed, fix)
    }
    PolicyErrors.named(policy(name, parameters: _*))
  }

  // Other options of an input have these names.
  private val Reserved = Set("policy", "name", "decorators", "from_jar", "of")

  /** As above, for Java. */
  def fromJar(name: String, parameters: JMap[String, String]): WatermarkPolicy =
    fromJar(name, parameters.asScala.toSeq: _*)

  private def policy(name: String, parameters: (String, String)*): WatermarkPolicy =
    new WatermarkPolicy(PolicyText.policy(name, parameters.toMap))

  private def combined(name: String, policies: Seq[WatermarkPolicy]): WatermarkPolicy = {
    val inside = policies.zipWithIndex.flatMap { case (policy, i) =>
      policy.options.get("decorators.0").foreach { decorator =>
        val problem = s"is decorated by $decorator inside $name, where only the outside may be"
        val fix = "Decorate the combination"
        WindowConflicts.refuse("policy", policy.options("policy"), problem, "plain policies", fix)
      }
      policy.options.map { case (key, value) => s"of.$i.$key" -> value }
    }
    new WatermarkPolicy(inside.toMap + ("policy" -> name))
  }
}
