package io.eventtide.spark

import java.time.Duration

import scala.annotation.varargs
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.col

import io.eventtide.spark.options.{DurationText, SettingText, WindowConflicts}

/** The options of a watermark other than its policy; each method returns a new value.
  *
  * {{{
  *   WatermarkOptions().substream("device").substreamIdleTimeout("15m")
  * }}}
  *
  *   - '''Units:''' durations are text such as `5s`, or `java.time.Duration`.
  *   - '''Edges:''' an invalid value throws an [[EventtideException]]. docs/reference/settings.md has
  *     the defaults, also those of a session.
  */
final class WatermarkOptions private (
    private[spark] val substream: Seq[Column],
    private[spark] val values: Map[String, String]
) {

  /** Sets the columns that identify a substream. The default is Kafka's topic partition, or the
    * whole source.
    */
  @varargs def substream(columns: Column*): WatermarkOptions = new WatermarkOptions(columns, values)

  /** As with columns, by their names. */
  @varargs def substream(name: String, names: String*): WatermarkOptions =
    substream((name +: names).map(col): _*)

  /** A substream that has no row for `timeout` no longer delays the watermark; positive. */
  def substreamIdleTimeout(timeout: String): WatermarkOptions =
    checked("substream_idle_timeout", timeout)

  /** As with text. */
  def substreamIdleTimeout(timeout: Duration): WatermarkOptions =
    substreamIdleTimeout(SettingText.text(timeout))

  /** Sets the number of substreams; the watermark starts when this number of substreams has had a
    * row.
    */
  def expected(count: Int): WatermarkOptions =
    new WatermarkOptions(
      substream,
      withoutExpected + ("expected" -> SettingText.rows("expected", count))
    )

  /** Sets the names of the substreams; the watermark starts when each of them has had a row. */
  def expected(names: Seq[String]): WatermarkOptions = {
    val repeated = names.diff(names.distinct) ++ Option.when(names.isEmpty)("")
    repeated.headOption.foreach { name =>
      val problem = if (names.isEmpty) "has no name" else "is there twice"
      WindowConflicts.refuse("expected", name, problem, "different names", "Name each once")
    }
    new WatermarkOptions(
      substream,
      withoutExpected ++ names.zipWithIndex.map { case (name, i) => s"expected.$i" -> name }
    )
  }

  private def withoutExpected = values.filterNot { case (option, _) =>
    option == "expected" || option.startsWith("expected.")
  }

  /** As above, for Java. */
  def expected(names: java.util.List[String]): WatermarkOptions = expected(names.asScala.toSeq)

  /** Fails the query if there are more than `most` substreams; 100 000 by default. */
  def maxSubstreams(most: Int): WatermarkOptions =
    set("max_substreams", SettingText.rows("max_substreams", most))

  /** Removes an idle substream when `ttl` has passed since its last row. `ttl` is at least the idle
    * timeout. The default is 7 days if there is an idle timeout.
    */
  def substreamTtl(ttl: String): WatermarkOptions =
    set("substream_ttl", DurationText.toIso("substream_ttl", ttl, isPositive = true))

  /** As with text. */
  def substreamTtl(ttl: Duration): WatermarkOptions = substreamTtl(SettingText.text(ttl))

  /** Never removes a substream, regardless of its idle time. */
  def keepSubstreams: WatermarkOptions = set("substream_ttl", "never")

  /** Sets the largest forward step of the clock beyond the time that has elapsed. A larger step
    * ends a query whose policy follows the clock. The default is the session's
    * `spark.eventtide.maxClockStep`, or 5 minutes.
    */
  def maxClockStep(most: String): WatermarkOptions = checked("max_clock_step", most)

  /** As with text. */
  def maxClockStep(most: Duration): WatermarkOptions = maxClockStep(SettingText.text(most))

  /** Sets whether the clock may advance the watermark before a restarted query has read its
    * backlog.
    *
    * @param mode
    *   `hold_until_caught_up`, the default, or `resume`
    */
  def onRestart(mode: String): WatermarkOptions = checked("on_restart", mode)

  /** Uses the clock immediately after a restart, even while the sources have a backlog. */
  def resumeOnRestart: WatermarkOptions = onRestart("resume")

  /** Sets the name of the input in reports. It may change at a restart. */
  def name(name: String): WatermarkOptions = checked("name", name)

  private def checked(option: String, text: String): WatermarkOptions =
    set(option, SettingText.watermark(option, text))

  private def set(option: String, value: String): WatermarkOptions =
    new WatermarkOptions(substream, values + (option -> value))
}

object WatermarkOptions {

  /** No options. */
  def apply(): WatermarkOptions = new WatermarkOptions(Nil, Map.empty)

  /** No options, for Java. */
  def create(): WatermarkOptions = apply()
}
