package io.eventtide.spark

import java.time.Duration

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.expr

import io.eventtide.spark.options.{DurationText, SettingText}

/** A trigger, which determines when a window emits a result; see `WindowBuilder.emit`.
  *
  * {{{
  *   builder.emit(WindowTrigger.every("10s"), WindowTrigger.atWindowEnd)
  * }}}
  */
final class WindowTrigger private (
    private[spark] val name: String,
    private[spark] val options: Map[String, String] = Map.empty,
    private[spark] val condition: Option[Column] = None
) {
  override def toString: String = s"WindowTrigger($name)"
}

object WindowTrigger {

  /** The options of the values of triggers. */
  private[spark] val Options = Seq("every", "every_rows")

  /** Fires when the window closes. */
  val atWindowEnd: WindowTrigger = new WindowTrigger("at_window_end")

  /** Fires after each batch that has rows of the window. */
  val onUpdate: WindowTrigger = new WindowTrigger("on_update")

  /** Emits a result `interval` of processing time after the last one, while rows arrive; positive.
    */
  def every(interval: String): WindowTrigger = {
    val iso = DurationText.toIso("every", interval, isPositive = true)
    new WindowTrigger("every", Map("every" -> iso))
  }

  /** As with text. */
  def every(interval: Duration): WindowTrigger = every(SettingText.text(interval))

  /** Emits a result after each `rows` rows of the window, one or more. */
  def everyRows(rows: Int): WindowTrigger =
    new WindowTrigger("every_rows", Map("every_rows" -> SettingText.rows("every_rows", rows)))

  /** Emits a result when a condition over the aggregates, by their names, becomes true. */
  def when(condition: Column): WindowTrigger =
    new WindowTrigger("when", condition = Some(condition))

  /** As with a column, as SQL text: `n >= 1000`. */
  def when(condition: String): WindowTrigger = when(expr(condition))
}
