package io.eventtide.spark.voltsp

import java.time.Duration

import scala.annotation.varargs

import org.apache.spark.sql.Column

import io.eventtide.spark.WatermarkPolicy
import io.eventtide.spark.options.{DurationText, OptionReader, SettingText}
import io.eventtide.spark.planning.EventTimeExtractor

/** The time settings of a window: VoltSP's `timeConfig`. Without an event time extractor a row has
  * the time of the batch that reads it, and no row is late.
  *
  * {{{
  *   TimeConfig().withEventTimeExtractor("ts").withIdleTimeout("5m")
  * }}}
  */
final class TimeConfig private (
    private[voltsp] val extractor: Option[EventTimeExtractor],
    private[voltsp] val policy: Option[WatermarkPolicy],
    private[voltsp] val scopeColumns: Seq[Column],
    private[voltsp] val values: Map[String, String]
) {

  /** Sets the event time: a TIMESTAMP column, or SQL text. */
  def withEventTimeExtractor(extractor: String): TimeConfig =
    changed(extractor = Some(EventTimeExtractor.OfText(extractor)))

  /** As with text. */
  def withEventTimeExtractor(extractor: Column): TimeConfig =
    changed(extractor = Some(EventTimeExtractor.OfColumn(extractor)))

  /** Sets the rule by which the watermark follows a batch, by default `MIN_EVENT_TIME`. */
  def withWatermarkStrategy(strategy: WatermarkStrategy): TimeConfig =
    set("watermark_strategy", strategy.name)

  /** Sets a watermark policy, in place of a strategy. */
  def withPolicy(policy: WatermarkPolicy): TimeConfig = changed(policy = Some(policy))

  /** Sets the additional time that every window stays open; zero or more. */
  def withDelayWindowClose(delay: String): TimeConfig =
    set("delay_window_close", DurationText.toIso("delay_window_close", delay))

  /** As with text. */
  def withDelayWindowClose(delay: Duration): TimeConfig =
    withDelayWindowClose(SettingText.text(delay))

  /** Sets the time without rows after which the windows of a key close; positive. For a session it
    * is the gap, and required.
    */
  def withIdleTimeout(timeout: String): TimeConfig =
    set("idle_timeout", DurationText.toIso("idle_timeout", timeout, isPositive = true))

  /** As with text. */
  def withIdleTimeout(timeout: Duration): TimeConfig = withIdleTimeout(SettingText.text(timeout))

  /** Sets the time that measures idleness, by default `PROCESSING_TIME`. */
  def withIdleTimeoutClock(clock: TimeSource): TimeConfig = set("idle_timeout_clock", clock.name)

  /** Sets whether each key has its own watermark (`key`, the default) or all keys have one
    * (`global`).
    */
  def withScope(scope: String): TimeConfig = {
    val scopes = Seq("key", "global").map(name => name -> name)
    new OptionReader(Map("scope" -> scope)).choice("scope", scopes): Unit
    changed(scopeColumns = Nil, values = values + ("scope" -> scope))
  }

  /** Gives each group of keys a watermark. */
  @varargs def withScope(columns: Column*): TimeConfig =
    changed(scopeColumns = columns, values = values + ("scope" -> "group"))

  /** Sets the rule by which a row is late. */
  def withLateRule(rule: String): TimeConfig =
    set("late_rule", SettingText.window("late_rule", rule))

  /** Sets the maximum interval between checks for idle keys; 100 ms or more. */
  def withHeartbeat(interval: String): TimeConfig =
    set("heartbeat", SettingText.window("heartbeat", interval))

  /** As with text. */
  def withHeartbeat(interval: Duration): TimeConfig = withHeartbeat(SettingText.text(interval))

  /** Sets the time after its last row at which a key without open windows is removed. */
  def withKeyTtl(ttl: String): TimeConfig = set("key_ttl", SettingText.window("key_ttl", ttl))

  /** As with text. */
  def withKeyTtl(ttl: Duration): TimeConfig = withKeyTtl(SettingText.text(ttl))

  /** Sets the number of rows of a key after which its watermark moves, within batches too. */
  def withMaxRowsPerBatch(rows: Int): TimeConfig =
    set("max_rows_per_batch", SettingText.rows("max_rows_per_batch", rows))

  private def set(name: String, value: String): TimeConfig =
    changed(values = values + (name -> value))

  private def changed(
      extractor: Option[EventTimeExtractor] = extractor,
      policy: Option[WatermarkPolicy] = policy,
      scopeColumns: Seq[Column] = scopeColumns,
      values: Map[String, String] = values
  ): TimeConfig = new TimeConfig(extractor, policy, scopeColumns, values)
}

object TimeConfig {

  /** No settings. */
  def apply(): TimeConfig = new TimeConfig(None, None, Nil, Map.empty)
}
