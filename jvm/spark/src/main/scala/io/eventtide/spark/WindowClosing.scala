package io.eventtide.spark

import java.time.Duration

import scala.annotation.varargs

import org.apache.spark.api.java.function.VoidFunction2
import org.apache.spark.sql.{Column, DataFrame, Dataset, Row}

import io.eventtide.spark.options.{SettingText, WindowConflicts}
import io.eventtide.spark.planning.WindowRequest

/** The third part of the builder: when windows close, late rows, and results. */
private[spark] trait WindowClosing { this: WindowBuilder =>

  /** Follows the boundary rules of another system: `eventtide` (the default), `jet`, `storm`,
    * `voltsp`, `spark` or `flink`.
    */
  def profile(name: String): WindowBuilder = set("profile", name)

  /** Sets the rule by which a row is late: `behind_watermark`, `frame_closed` or `window_closed`.
    * It takes precedence over the rule of the profile.
    */
  def lateRule(rule: String): WindowBuilder = set("late_rule", rule)

  /** Keeps every window open until the watermark reaches its end plus the delay. */
  def delay(delay: String): WindowBuilder = set("delay", delay)

  /** As with text. */
  def delay(delay: Duration): WindowBuilder = this.delay(SettingText.text(delay))

  /** Accepts rows until the watermark is `lateness` past a window's end; see `lateUpdates`. */
  def allowedLateness(lateness: String): WindowBuilder = set("allowed_lateness", lateness)

  /** As with text. */
  def allowedLateness(lateness: Duration): WindowBuilder =
    allowedLateness(SettingText.text(lateness))

  /** Sets the action for late rows: `log` (the default) keeps them in the late log, `count` only
    * counts them, `fail` stops the query.
    */
  def late(action: String): WindowBuilder = set("late", action)

  /** Sets the folder of the late log, by default `late` in the checkpoint. */
  def lateTo(path: String): WindowBuilder = set("late_to", path)

  /** Sets the retention of late rows, positive; by default they are kept permanently. */
  def lateRetention(keep: String): WindowBuilder = set("late_retention", keep)

  /** As with text. */
  def lateRetention(keep: Duration): WindowBuilder = lateRetention(SettingText.text(keep))

  /** Calls a handler with the late rows of each committed batch that has late rows. The window must
    * be started with `start`. The call of a batch is complete before that of the next one begins.
    * It is repeated after a restart if it was not complete.
    */
  def onLate(handler: (DataFrame, LateContext) => Unit): WindowBuilder = onLate(handler, "fail")

  /** As with one argument.
    *
    * @param onError
    *   `fail` (the default) stops the query if the handler throws, `log` only logs its error
    */
  def onLate(handler: (DataFrame, LateContext) => Unit, onError: String): WindowBuilder =
    handledBy(LateHandler("on_error", handler, onError))

  /** As with a function, for Java. */
  def onLate(handler: VoidFunction2[Dataset[Row], LateContext], onError: String): WindowBuilder =
    onLate((rows: DataFrame, context: LateContext) => handler.call(rows, context), onError)

  /** Sets the triggers of a window's results, each at most once; by default there is one result,
    * when it closes. Results then also have the pane columns and `trigger` STRING.
    */
  @varargs def emit(triggers: WindowTrigger*): WindowBuilder = {
    val names = triggers.map(_.name)
    if (names.isEmpty || names.distinct != names) {
      val problem = if (names.isEmpty) "has no trigger" else "has a trigger twice"
      val allowed = "one trigger or more, each once"
      WindowConflicts.refuse("triggers", names.mkString(","), problem, allowed, "Change emit")
    }
    changed { request =>
      val others = request.options -- WindowTrigger.Options
      request
        .copy(options = triggers.foldLeft(others)(_ ++ _.options))
        .withOption("triggers", names.mkString(","))
        .withColumns("when", triggers.flatMap(_.condition))
    }
  }

  /** Makes each result hold only the rows since the previous result of its trigger. It requires a
    * trigger before the end, or `lateUpdates`.
    */
  def discarding(): WindowBuilder = changed(_.withOption("discarding", "true"))

  /** Makes a window emit again when rows arrive within its `allowedLateness`. Without `emit`, its
    * trigger is its end.
    */
  def lateUpdates(): WindowBuilder = changed { request =>
    val triggers = request.options.getOrElse("triggers", WindowTrigger.atWindowEnd.name)
    request.withOption("late_updates", "true").withOption("triggers", triggers)
  }

  /** Sets the aggregates: any Spark aggregates that can be merged, preferably with an alias. */
  @varargs def agg(columns: Column*): WindowBuilder =
    changed(_.withColumns("aggregates", WindowRequest.someOf("aggregates", columns)))
}
