package io.eventtide.spark.voltsp

import java.time.Duration

import scala.annotation.varargs

import org.apache.spark.api.java.function.VoidFunction2
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.{Column, DataFrame, Dataset, Row}

import io.eventtide.spark.options.{DurationText, OptionReader, SettingText, SizeText}
import io.eventtide.spark.planning.WindowRequest
import io.eventtide.spark.{LateContext, LateHandler, WindowBuilder, WindowTrigger}

/** A window with VoltSP's names, without rows; [[Windows]] begins it, `over` completes it.
  *
  *   - '''Guarantee:''' immutable. The rules are those of the profile `voltsp`: with a key extractor
  *     each key has its own watermark, which moves once per batch.
  *   - '''Units:''' a span and a slide are durations, as text or `java.time.Duration`; for count
  *     windows they are numbers of rows.
  *   - '''Edges:''' an invalid value throws an `EventtideException`, a combination in `over`.
  *   - '''Source:''' VoltSP's page "Time and Watermarks in VoltSP Window Aggregations".
  */
final class VoltSPWindow private[voltsp] (
    private[voltsp] val kind: WindowKinds.Kind,
    private[voltsp] val sizes: Map[String, String] = Map.empty,
    private[voltsp] val keys: Seq[Column] = Nil,
    private[voltsp] val time: TimeConfig = TimeConfig(),
    private[voltsp] val aggregates: AggregateDefinition = AggregateDefinition(),
    private[voltsp] val options: Map[String, String] = Map.empty,
    private[voltsp] val triggers: Seq[WindowTrigger] = Nil,
    private[voltsp] val handler: Option[LateHandler] = None
) {

  /** Sets the length of a window. Sessions have no span: their gap is the idle timeout. */
  def withWindowSpan(span: String): VoltSPWindow = size("window_span", span)

  /** As with text. */
  def withWindowSpan(span: Duration): VoltSPWindow = withWindowSpan(SettingText.text(span))

  /** Sets the number of rows of a count window. */
  def withWindowSpan(rows: Int): VoltSPWindow = rowsOf("window_span", rows)

  /** Sets the slide of overlapping windows: a divisor of the span. */
  def withSlide(slide: String): VoltSPWindow = size("slide", slide)

  /** As with text. */
  def withSlide(slide: Duration): VoltSPWindow = withSlide(SettingText.text(slide))

  /** Sets the slide of count windows. */
  def withSlide(rows: Int): VoltSPWindow = rowsOf("slide", rows)

  /** As `withSlide`; this is VoltSP's name. */
  def slideBy(slide: String): VoltSPWindow = withSlide(slide)

  /** As `withSlide`; this is VoltSP's name. */
  def slideBy(slide: Duration): VoltSPWindow = withSlide(slide)

  /** As `withSlide`; this is VoltSP's name. */
  def slideBy(rows: Int): VoltSPWindow = withSlide(rows)

  /** Sets the keys, each with its windows and watermark; column names or SQL text. */
  @varargs def withKeyExtractor(extractor: String, extractors: String*): VoltSPWindow =
    withKeyExtractor((extractor +: extractors).map(expr): _*)

  /** As with text. */
  @varargs def withKeyExtractor(extractors: Column*): VoltSPWindow =
    changed(keys = WindowRequest.someOf("key_extractor", extractors))

  /** Sets the time settings; by default a window uses processing time. */
  def withTimeConfig(config: TimeConfig): VoltSPWindow = changed(time = config)

  /** Sets the time settings with the methods of `TimeConfig`. */
  def withTimeConfigBuilder(build: TimeConfig => TimeConfig): VoltSPWindow =
    withTimeConfig(build(TimeConfig()))

  /** Sets the aggregates with the methods of `AggregateDefinition`. */
  def withAggregateDefinition(build: AggregateDefinition => AggregateDefinition): VoltSPWindow =
    changed(aggregates = build(AggregateDefinition()))

  /** Calls a handler with the late rows of each batch that has late rows, as
    * `WindowBuilder.onLate` does; the window must be started with `start`. Without an event time
    * extractor no row is late, so the handler is never called.
    */
  def withExceptionHandler(handler: (DataFrame, LateContext) => Unit): VoltSPWindow =
    withExceptionHandler(handler, "fail")

  /** As with one argument.
    *
    * @param onHandlerError
    *   `fail` (the default) stops the query if the handler throws, `log` only logs its error
    */
  def withExceptionHandler(
      handler: (DataFrame, LateContext) => Unit,
      onHandlerError: String
  ): VoltSPWindow =
    changed(handler = Some(LateHandler("on_handler_error", handler, onHandlerError)))

  /** As with a function, for Java. */
  def withExceptionHandler(
      handler: VoidFunction2[Dataset[Row], LateContext],
      onHandlerError: String
  ): VoltSPWindow =
    withExceptionHandler(
      (rows: DataFrame, context: LateContext) => handler.call(rows, context),
      onHandlerError
    )

  /** Sets the maximum duration of a session: the idle timeout or longer. */
  def withMaximumDuration(maximum: String): VoltSPWindow =
    ofSession("maximum_duration", SettingText.window("maximum_duration", maximum))

  /** As with text. */
  def withMaximumDuration(maximum: Duration): VoltSPWindow =
    withMaximumDuration(SettingText.text(maximum))

  /** Sets whether rows exactly a gap apart `merge` or are `separate`, as in VoltSP. */
  def withTouching(touching: String): VoltSPWindow =
    ofSession("touching", SettingText.window("touching", touching))

  /** Sets the action for late rows: `log` (the default), `count` or `fail`. */
  def withLate(action: String): VoltSPWindow = set("late", SettingText.window("late", action))

  /** Sets the folder of the late log, by default `late` in the checkpoint. */
  def withLateTo(path: String): VoltSPWindow = set("late_to", SettingText.window("late_to", path))

  /** Sets the triggers of the window's results; by default there is one result, at its end. */
  @varargs def emit(triggers: WindowTrigger*): VoltSPWindow = changed(triggers = triggers)

  /** The window over rows, as a window of `Eventtide.window`. If the event time is an expression,
    * its value is added to the rows as a column `_extracted_event_time`.
    */
  def over(rows: Dataset[_]): WindowBuilder = VoltSPBinding(this, rows.toDF())

  private def size(name: String, text: String): VoltSPWindow = {
    checkApplies(name, text, isRows = false)
    if (SizeText.read(name, text).unit == SizeText.Month) {
      val problem = "is a calendar size, and there is no time zone here"
      DurationText.refuse(name, text, problem, "a duration", "1h")
    }
    changed(sizes = sizes + (name -> text))
  }

  private def rowsOf(name: String, rows: Int): VoltSPWindow = {
    checkApplies(name, rows.toString, isRows = true)
    changed(sizes = sizes + (name -> SettingText.rows(name, rows)))
  }

  private def checkApplies(name: String, value: String, isRows: Boolean): Unit = {
    val has = kind != WindowKinds.Session && (name != "slide" || kind.slides)
    if (!has || kind.isCounted != isRows) {
      val gap = if (kind == WindowKinds.Session) ", whose gap is its idle timeout" else ""
      val what = if (kind.isCounted) "numbers of rows" else "durations"
      val allowed = if (has) what else s"windows that have a $name"
      OptionReader.unknown(name, value, s"$allowed, not for a ${kind.name}$gap")
    }
  }

  private def ofSession(name: String, value: String): VoltSPWindow = {
    if (kind != WindowKinds.Session)
      OptionReader.unknown(name, value, s"session windows, not for a ${kind.name}")
    set(name, value)
  }

  private def set(name: String, value: String): VoltSPWindow =
    changed(options = options + (name -> value))

  private def changed(
      sizes: Map[String, String] = sizes,
      keys: Seq[Column] = keys,
      time: TimeConfig = time,
      aggregates: AggregateDefinition = aggregates,
      options: Map[String, String] = options,
      triggers: Seq[WindowTrigger] = triggers,
      handler: Option[LateHandler] = handler
  ): VoltSPWindow =
    new VoltSPWindow(kind, sizes, keys, time, aggregates, options, triggers, handler)
}
