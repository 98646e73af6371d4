package io.eventtide.spark

import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery}
import org.apache.spark.sql.{DataFrame, Dataset, classic}

import io.eventtide.spark.options.{OptionReader, SettingText}
import io.eventtide.spark.planning.{ClassicSession, WindowRequest}

/** A window over a DataFrame; `Eventtide.window` creates one.
  *
  * {{{
  *   val counts = Eventtide
  *     .window(events)
  *     .eventTime("ts", WatermarkPolicy.withFixedLag("5s"))
  *     .keyBy("device")
  *     .sliding("1m", "1s")
  *     .agg(count("*").as("n"))
  *   counts.results.writeStream.format("console").start()
  * }}}
  *
  *   - '''Guarantee:''' immutable. Each method returns a new builder. A second call of a method
  *     replaces the setting of the first, except for the kind of window, which is set once.
  *   - '''Units:''' durations are text such as `5s` or `1h 30m`, or `java.time.Duration`.
  *   - '''Edges:''' each method checks its argument, and `results` checks the combination; both
  *     throw an [[EventtideException]] before anything starts.
  */
final class WindowBuilder private[spark] (
    rows: Option[DataFrame],
    private[spark] val request: WindowRequest,
    resultsOf: DataFrame => DataFrame = identity,
    handler: Option[LateHandler] = None
) extends WindowFraming
    with WindowTiming
    with WindowClosing {

  /** The result: `window` (a struct of `start` and `end`), the keys, the aggregates.
    *
    * With `emit` or `keyIdleTimeout` it also has the pane columns `pane_index`, `pane_timing` and
    * `is_last`, and with `emit` also `trigger`. On a stream the output mode is append; on a batch
    * the result has the final row of every window.
    */
  lazy val results: DataFrame = resultsOf(request.over(df))

  /** The input rows. */
  def df: classic.DataFrame = rows match {
    case Some(frame) => ClassicSession.rows(frame)
    case None => OptionReader.missing("window", "rows, with over(df)")
  }

  /** The same window over these rows, in place of its present rows. */
  def over(rows: Dataset[_]): WindowBuilder =
    new WindowBuilder(Some(rows.toDF()), request, resultsOf, handler)

  /** Starts a query over `results`, or over a DataFrame derived from them. */
  def start(writer: DataStreamWriter[_]): StreamingQuery = start(writer, drain = false)

  /** Starts a query over `results`, or over a DataFrame derived from them.
    *
    * @param drain
    *   whether the query closes every window after its last row; it needs
    *   `trigger(Trigger.AvailableNow())`
    */
  def start(writer: DataStreamWriter[_], drain: Boolean): StreamingQuery =
    QueryStart.ofWindow(results, writer, drain, handler)

  /** Prints a description of the window and of its watermark. */
  def explain(): Unit = Eventtide.explain(results)

  override def toString: String = {
    val lists = request.columns.map { case (name, columns) => name -> columns.mkString(", ") }
    val all = request.options ++ request.sizes ++ lists ++ request.eventTime.map("event_time" -> _)
    all.toSeq
      .map { case (name, value) => s"$name=$value" }
      .sorted
      .mkString("WindowBuilder(", ", ", ")")
  }

  private[spark] def changed(change: WindowRequest => WindowRequest): WindowBuilder =
    new WindowBuilder(rows, change(request), resultsOf, handler)

  private[spark] def handledBy(handler: LateHandler): WindowBuilder =
    new WindowBuilder(rows, request.withOption("on_late", "true"), resultsOf, Some(handler))

  /** The window whose results are computed from the rows of each window. */
  private[spark] def withResults(results: DataFrame => DataFrame): WindowBuilder =
    new WindowBuilder(rows, request, results, handler)

  private[spark] def set(option: String, text: String): WindowBuilder = {
    val value = SettingText.window(option, text)
    changed(_.withOption(option, value))
  }
}
