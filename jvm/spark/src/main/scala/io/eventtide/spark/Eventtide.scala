package io.eventtide.spark

import org.apache.spark.SparkConf
import org.apache.spark.sql.functions.call_function
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery}
import org.apache.spark.sql.{Column, DataFrame, Dataset, SparkSession}

import io.eventtide.spark.planning.{
  ClassicSession,
  EventtideRequest,
  ExpectedShare,
  RealTimeStart,
  RequestBuilder,
  WindowRequest
}
import io.eventtide.spark.repair.WindowRepair

/** The Scala and Java API of Eventtide: watermark policies in place of Spark's `withWatermark`, and
  * windows.
  *
  * {{{
  *   val policy = WatermarkPolicy.limitingLagAndLull("5s", "30s").throttleByFrame("1s")
  *   val counts = Eventtide
  *     .window(events)
  *     .eventTime("ts", policy, WatermarkOptions().substream("device"))
  *     .keyBy("user")
  *     .tumbling("1m")
  *     .agg(count("*").as("n"))
  *   val query = counts.start(counts.results.writeStream.format("console"))
  * }}}
  *
  *   - '''Guarantee:''' the same plans and checkpoints as Python and SQL.
  *   - '''Edges:''' an invalid argument throws an [[EventtideException]], before any query starts.
  *     The session needs `spark.sql.extensions=io.eventtide.spark.EventtideExtensions`.
  */
object Eventtide extends EventtideReports with EventtideCheckpoints {

  /** Installs Eventtide in the sessions of a builder, with Spark's RocksDB as state store, which
    * windows need.
    *
    * {{{
    *   val spark = Eventtide.configure(SparkSession.builder()).getOrCreate()
    * }}}
    *
    *   - '''Edges:''' a setting of the state store in `spark-submit` or `spark-defaults.conf` stays.
    *     Make the builder's own settings after this call. The jar must be on the class path.
    */
  def configure(builder: SparkSession.Builder): SparkSession.Builder =
    configure(builder, realTime = false)

  /** As above, and also for queries in real-time mode.
    *
    * {{{
    *   val spark = Eventtide.configure(SparkSession.builder(), realTime = true).getOrCreate()
    * }}}
    *
    *   - '''Edges:''' Spark 4.1 and 4.2 fail with `REAL_TIME_SPARK`.
    */
  def configure(builder: SparkSession.Builder, realTime: Boolean): SparkSession.Builder = {
    if (realTime) RealTimeStart.checkSpark()
    val known = new SparkConf()
    val settings = SessionSettings.of(realTime).filterNot { case (key, _) => known.contains(key) }
    settings.foreach { case (key, value) => builder.config(key, value) }
    builder.withExtensions(new EventtideExtensions)
  }

  /** Adds a policy's watermark to a column of a stream. */
  def withWatermark(
      stream: Dataset[_],
      eventTime: String,
      policy: WatermarkPolicy
  ): DataFrame = withWatermark(stream, eventTime, policy, WatermarkOptions())

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
    */
  def withWatermark(
      stream: Dataset[_],
      eventTime: String,
      policy: WatermarkPolicy,
      options: WatermarkOptions
  ): DataFrame =
    request(
      stream,
      "with_watermark",
      policy.options ++ options.values,
      Map("event_time" -> eventTime),
      Map("substream" -> options.substream)
    )

  /** Adds the creation time of each batch as column `ingested_at`; see below. */
  def withIngestionTime(stream: Dataset[_]): DataFrame = withIngestionTime(stream, "ingested_at")

  /** Adds the creation time of each batch as column `into`, with a watermark for which no row is
    * late. The time is monotonic, even if the clock is set back.
    */
  def withIngestionTime(stream: Dataset[_], into: String): DataFrame =
    withIngestionTime(stream, into, WatermarkPolicy.withIngestionTime)

  /** As above, with the ingestion-time policy and its throttles. */
  def withIngestionTime(stream: Dataset[_], into: String, policy: WatermarkPolicy): DataFrame =
    request(stream, "with_ingestion_time", policy.options, Map("into" -> into), Map.empty)

  /** Begins a window over a stream, or over a batch, whose result is the final rows. */
  def window(rows: Dataset[_]): WindowBuilder = window().over(rows)

  /** Begins a window without rows, which `over` adds. */
  def window(): WindowBuilder = new WindowBuilder(None, WindowRequest())

  /** Starts a query that closes every window after its last row, as at the end of a replay.
    *
    * @param writer
    *   a writer with `trigger(Trigger.AvailableNow())` over rows with an Eventtide watermark
    */
  def drain(writer: DataStreamWriter[_]): StreamingQuery = QueryStart.start(writer, drain = true)

  /** Starts a query that reads a history in place of its stream, and ends.
    *
    * The next start of the query, with the same checkpoint location, reads the stream. Its windows
    * have the rows of both.
    *
    * @param writer
    *   a writer over the results of a stream with an Eventtide watermark, with a checkpoint location
    *   that is new. Its trigger is ignored.
    * @param history
    *   a batch with the columns of the stream below the watermark
    */
  def backfill(writer: DataStreamWriter[_], history: Dataset[_]): StreamingQuery =
    QueryStart.backfill(writer, history.toDF())

  /** The share of the rows of a window that have come, as expected when it closes: a DOUBLE.
    *
    * @param window
    *   the window column of results
    */
  def expectedShare(window: Column): Column = call_function(ExpectedShare.Name, window)

  /** Corrects the results that a query has written, with the late rows in its late log.
    *
    * The windows of late rows are recomputed from all rows; the other windows are unchanged.
    *
    * @param results
    *   a batch: the final rows that the query has written
    * @param late
    *   a batch of late rows, with the columns of the window's input
    * @param source
    *   a batch of all rows, including late rows, of at least every window of a late row
    * @return
    *   the columns of `results`, and `changed`: `corrected`, `new` or `unchanged`
    */
  def repair(
      results: Dataset[_],
      late: Dataset[_],
      window: WindowBuilder,
      source: Dataset[_]
  ): DataFrame = WindowRepair(results.toDF(), late.toDF(), window.request, source.toDF())

  private def request(
      stream: Dataset[_],
      name: String,
      watermark: Map[String, String],
      options: Map[String, String],
      columns: Map[String, Seq[Column]]
  ): DataFrame = {
    val all = RequestBuilder.options(name, options, watermark)
    EventtideRequest.over(ClassicSession.rows(stream), all, columns)
  }
}
