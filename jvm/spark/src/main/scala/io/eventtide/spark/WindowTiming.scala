package io.eventtide.spark

import java.time.Duration

import scala.annotation.varargs

import org.apache.spark.sql.Column

import io.eventtide.spark.options.{OptionReader, SettingText}
import io.eventtide.spark.planning.WindowRequest

/** The second part of the builder: watermarks by key, and idle keys. */
private[spark] trait WindowTiming { this: WindowBuilder =>

  /** Sets whether each key has its own watermark (`key`) or all keys have one (`global`). */
  def watermarkScope(scope: String): WindowBuilder = {
    val scopes = Seq("key", "global").map(name => name -> name)
    new OptionReader(Map("watermark_scope" -> scope)).choice("watermark_scope", scopes): Unit
    changed(_.withOption("scope", scope).withColumns("scope", Nil))
  }

  /** Gives each group of keys a watermark. The columns of a group must also be keys. */
  @varargs def watermarkScope(columns: Column*): WindowBuilder = {
    val group = WindowRequest.someOf("scope", columns)
    changed(_.withOption("scope", "group").withColumns("scope", group))
  }

  /** Emits the open windows of a key that has no row for `timeout` of processing time; positive. */
  def keyIdleTimeout(timeout: String): WindowBuilder = keyIdleTimeout(timeout, "processing_time")

  /** As above.
    *
    * @param clock
    *   `processing_time`, or `event_time` for the watermark over all keys
    */
  def keyIdleTimeout(timeout: String, clock: String): WindowBuilder =
    set("key_idle_timeout", timeout).set("key_idle_clock", clock)

  /** As with text. */
  def keyIdleTimeout(timeout: Duration): WindowBuilder = keyIdleTimeout(SettingText.text(timeout))

  /** As with text. */
  def keyIdleTimeout(timeout: Duration, clock: String): WindowBuilder =
    keyIdleTimeout(SettingText.text(timeout), clock)

  /** Removes a key without open windows when `ttl` has passed since its last row; 1 day by default.
    */
  def keyTtl(ttl: String): WindowBuilder = set("key_ttl", ttl)

  /** As with text. */
  def keyTtl(ttl: Duration): WindowBuilder = keyTtl(SettingText.text(ttl))

  /** Sets the interval at which the query checks for idle keys without rows; 100 ms or more, by
    * default 1 minute.
    */
  def heartbeat(interval: String): WindowBuilder = set("heartbeat", interval)

  /** As with text. */
  def heartbeat(interval: Duration): WindowBuilder = heartbeat(SettingText.text(interval))

  /** Advances the watermark of a key after each `rows` of its rows, as if they were a batch. It
    * requires `watermarkScope("key")`.
    */
  def maxRowsPerBatch(rows: Int): WindowBuilder =
    changed(_.withOption("max_rows_per_batch", SettingText.rows("max_rows_per_batch", rows)))
}
