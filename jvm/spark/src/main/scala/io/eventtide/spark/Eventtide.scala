package io.eventtide.spark

import java.time.Duration

import org.apache.spark.sql.classic
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{Column, DataFrame}

import io.eventtide.spark.planning.{EventtideRequest, RequestBuilder}
import io.eventtide.spark.query.run.QueryWatermarks

/** The Scala API of Eventtide: watermark policies in place of `withWatermark`.
  *
  * {{{
  *   val policy = WatermarkPolicy.limitingLagAndLull(Duration.ofSeconds(5), Duration.ofSeconds(30))
  *     .throttleByFrame(Duration.ofSeconds(1))
  *   val watermarked = Eventtide.withWatermark(events, "ts", policy)
  *   watermarked.groupBy(window($"ts", "1 minute"), $"user").count()
  * }}}
  *
  * The session needs `spark.sql.extensions=io.eventtide.spark.EventtideExtensions`.
  */
object Eventtide {

  /** Adds a policy's watermark to a column of a stream.
    *
    *   - '''Guarantee:''' rows pass unchanged. Rows without a usable event time and rows that
    *     `guardFuture` refuses are filtered out and counted. A batch DataFrame passes unchanged.
    *   - '''Edges:''' a second watermark on one stream is refused.
    *   - '''Source:''' Jet 0.5 `WatermarkPolicies`.
    *
    * @param eventTime
    *   a TIMESTAMP or TIMESTAMP_NTZ column
    * @param options
    *   the substreams, the idle timeout and all other options
    * @throws EventtideException
    *   if the arguments are not valid, before any query starts
    */
  def withWatermark(
      stream: DataFrame,
      eventTime: String,
      policy: WatermarkPolicy,
      options: WatermarkOptions = WatermarkOptions()
  ): DataFrame =
    request(
      stream,
      "with_watermark",
      policy.options ++ options.values,
      Map("event_time" -> eventTime),
      Map("substream" -> options.substream)
    )

  /** Adds the creation time of each batch as column `into`, with a watermark for which no row is
    * late. The time is monotonic, even if the clock is set back.
    */
  def withIngestionTime(stream: DataFrame, into: String = "ingested_at"): DataFrame =
    request(stream, "with_ingestion_time", Map.empty, Map("into" -> into), Map.empty)

  private def request(
      stream: DataFrame,
      name: String,
      watermark: Map[String, String],
      options: Map[String, String],
      columns: Map[String, Seq[Column]]
  ): DataFrame = {
    val all = RequestBuilder.options(name, options, watermark)
    EventtideRequest.over(stream.asInstanceOf[classic.DataFrame], all, columns)
  }

  /** Explains in a sentence why a query's watermark is delayed, since when, and the remedy, as of
    * the last batch. None for a query without an Eventtide watermark.
    */
  def blame(query: StreamingQuery): Option[String] = {
    val session = query.sparkSession.asInstanceOf[classic.SparkSession]
    QueryWatermarks.report(session, query.id).map(_.blame)
  }
}

/** A watermark policy and its decorators, as the flat options that all APIs share.
  *
  * Durations are zero or more unless noted otherwise. The rules are those of Jet 0.5;
  * docs/reference/policies.md has a worked timeline for each.
  */
final class WatermarkPolicy private (val options: Map[String, String], decorators: Int) {

  /** Emits the watermark when it enters a new frame; `size` is at least a millisecond. */
  def throttleByFrame(size: Duration, offset: Duration = Duration.ZERO): WatermarkPolicy =
    decorated("throttle_by_frame", "size" -> size.toString, "offset" -> offset.toString)

  /** Emits the watermark when it has advanced by `step`, which is at least a millisecond. */
  def throttleByMinStep(step: Duration): WatermarkPolicy =
    decorated("throttle_by_min_step", "step" -> step.toString)

  /** Emits the watermark once every `interval` of processing time, like Storm's timer. */
  def emitEvery(interval: Duration): WatermarkPolicy =
    decorated("emit_every", "interval" -> interval.toString)

  /** Prevents rows with an event time more than `maxAhead` ahead of the clock from advancing the
    * watermark.
    *
    * @param on
    *   `clamp` keeps such a row and counts its time as the limit, `late` refuses the row, `fail`
    *   fails the query
    */
  def guardFuture(maxAhead: Duration, on: String = "clamp"): WatermarkPolicy =
    decorated("guard_future", "max_ahead" -> maxAhead.toString, "on" -> on)

  private def decorated(name: String, parameters: (String, String)*): WatermarkPolicy = {
    val prefix = s"decorators.$decorators"
    val added = parameters.map { case (key, value) => s"$prefix.$key" -> value }
    new WatermarkPolicy(options ++ added + (prefix -> name), decorators + 1)
  }
}

object WatermarkPolicy {
  def withFixedLag(lag: Duration): WatermarkPolicy = policy("with_fixed_lag", "lag" -> lag)

  def limitingLagAndDelay(lag: Duration, maxDelay: Duration): WatermarkPolicy =
    policy("limiting_lag_and_delay", "lag" -> lag, "max_delay" -> maxDelay)

  def limitingLagAndLull(lag: Duration, maxLull: Duration): WatermarkPolicy =
    policy("limiting_lag_and_lull", "lag" -> lag, "max_lull" -> maxLull)

  def limitingTimestampAndWallClockLag(
      timestampLag: Duration,
      wallClockLag: Duration
  ): WatermarkPolicy =
    policy(
      "limiting_timestamp_and_wall_clock_lag",
      "timestamp_lag" -> timestampLag,
      "wall_clock_lag" -> wallClockLag
    )

  def limitingRealTimeLag(lag: Duration): WatermarkPolicy =
    policy("limiting_real_time_lag", "lag" -> lag)

  def minEventTime: WatermarkPolicy = policy("min_event_time")

  def minEventTimeOfAll: WatermarkPolicy = policy("min_event_time_of_all")

  def maxEventTime: WatermarkPolicy = policy("max_event_time")

  def storm(lag: Duration): WatermarkPolicy = policy("storm", "lag" -> lag)

  /** The lowest watermark of several policies over the same substream. */
  def minOf(policies: WatermarkPolicy*): WatermarkPolicy = combined("min_of", policies)

  /** The highest watermark of several policies over the same substream. */
  def maxOf(policies: WatermarkPolicy*): WatermarkPolicy = combined("max_of", policies)

  private def policy(name: String, parameters: (String, Duration)*): WatermarkPolicy =
    new WatermarkPolicy(
      Map("policy" -> name) ++ parameters.map { case (key, value) => key -> value.toString },
      decorators = 0
    )

  private def combined(name: String, policies: Seq[WatermarkPolicy]): WatermarkPolicy = {
    val inside = policies.zipWithIndex.flatMap { case (policy, i) =>
      policy.options.map { case (key, value) => s"of.$i.$key" -> value }
    }
    new WatermarkPolicy(inside.toMap + ("policy" -> name), decorators = 0)
  }
}

/** The options of a watermark other than its policy; each method returns a new value. */
final class WatermarkOptions private (val substream: Seq[Column], val values: Map[String, String]) {

  /** Sets the columns that identify a substream. The default is Kafka's topic partition, or the
    * whole source.
    */
  def substream(columns: Column*): WatermarkOptions = new WatermarkOptions(columns, values)

  /** A substream that has no row for `timeout` no longer delays the watermark; positive. */
  def substreamIdleTimeout(timeout: Duration): WatermarkOptions =
    set("substream_idle_timeout", timeout.toString)

  /** Sets the number of substreams; the watermark starts when this number of substreams has had a
    * row.
    */
  def expected(count: Int): WatermarkOptions = set("expected", count.toString)

  /** Sets the names of the substreams; the watermark starts when each of them has had a row. */
  def expected(names: Seq[String]): WatermarkOptions =
    new WatermarkOptions(
      substream,
      values ++ names.zipWithIndex.map { case (name, i) => s"expected.$i" -> name }
    )

  /** Fails the query if there are more than `most` substreams; 100 000 by default. */
  def maxSubstreams(most: Int): WatermarkOptions = set("max_substreams", most.toString)

  /** Removes an idle substream when `ttl` has passed since its last row. `ttl` is at least the idle
    * timeout. The default is 7 days if there is an idle timeout.
    */
  def substreamTtl(ttl: Duration): WatermarkOptions = set("substream_ttl", ttl.toString)

  /** Never removes a substream, regardless of its idle time. */
  def keepSubstreams: WatermarkOptions = set("substream_ttl", "never")

  /** Sets the largest forward step of the clock beyond the time that has elapsed. A larger step
    * ends a query whose policy follows the clock. The default is the session's
    * `spark.eventtide.maxClockStep`, or 5 minutes.
    */
  def maxClockStep(most: Duration): WatermarkOptions = set("max_clock_step", most.toString)

  /** Uses the clock immediately after a restart, even while the sources have a backlog. */
  def resumeOnRestart: WatermarkOptions = set("on_restart", "resume")

  private def set(option: String, value: String): WatermarkOptions =
    new WatermarkOptions(substream, values + (option -> value))
}

object WatermarkOptions {
  def apply(): WatermarkOptions = new WatermarkOptions(Nil, Map.empty)
}
