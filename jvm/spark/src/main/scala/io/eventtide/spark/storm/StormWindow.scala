package io.eventtide.spark.storm

import java.time.Duration
import java.util.{Map => JMap}

import scala.annotation.varargs
import scala.jdk.CollectionConverters._

import org.apache.spark.api.java.function.FlatMapFunction
import org.apache.spark.sql.functions.{col, expr}
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Column, DataFrame, Dataset, Encoder, Encoders, Row, SparkSession}

import io.eventtide.spark.WindowBuilder
import io.eventtide.spark.options.SettingText
import io.eventtide.spark.planning.WindowRequest

/** A windowed bolt with the names of Storm's `BaseWindowedBolt`; `agg` or `execute` completes it.
  *
  * {{{
  *   val bolt = StormWindow()
  *     .withWindow("20s", "10s")
  *     .withTimestampField("ts")
  *     .withLag("5s")
  *     .over(events)
  *   val counts = bolt.agg(count("*").as("n"))
  *   val latest = bolt.execute("device string, n long") { window =>
  *     window.get.groupBy(_.getAs[String]("device")).map { case (device, rows) =>
  *       Row(device, rows.size.toLong)
  *     }
  *   }
  * }}}
  *
  *   - '''Guarantee:''' immutable. Windows are `(start, end]`; docs/reference/storm.md has the rules,
  *     and the cases in which Storm loses rows.
  *   - '''Units:''' a length and a slide are each a [[Count]] of rows or a duration of a millisecond
  *     or more, as text or `java.time.Duration`.
  *   - '''Edges:''' an invalid value throws an `EventtideException`, a combination in `agg` or
  *     `execute`.
  *   - '''Source:''' Storm's page "Windowing Support in Core Storm".
  */
final class StormWindow private (protected val bolt: Bolt) extends BoltSettings {

  override private[storm] def changed(change: Bolt => Bolt): StormWindow =
    new StormWindow(change(bolt))

  /** Sets the input stream, without a watermark; the watermark waits until it has had a row. */
  def over(rows: Dataset[_]): StormWindow =
    changed(_.copy(streams = Some(BoltStreams.one(rows.toDF()))))

  /** Sets one DataFrame with several streams, such as Kafka's topics.
    *
    * @param stream
    *   the column that identifies the stream of a row
    * @param declared
    *   its values that the watermark waits for
    */
  def over(rows: Dataset[_], stream: String, declared: Seq[String]): StormWindow =
    changed(_.copy(streams = Some(BoltStreams.ofColumn(rows.toDF(), col(stream), declared))))

  /** As above, for Java. */
  def over(rows: Dataset[_], stream: String, declared: java.util.List[String]): StormWindow =
    over(rows, stream, declared.asScala.toSeq)

  /** Sets several streams by name. They are united by column name, with null for missing columns,
    * and get a column `_stream`.
    */
  def over(streams: (String, DataFrame)*): StormWindow =
    changed(_.copy(streams = Some(BoltStreams.named(streams))))

  /** As above, for Java. */
  def over(streams: JMap[String, Dataset[Row]]): StormWindow = over(streams.asScala.toSeq: _*)

  /** Sets the key columns; without keys the windows hold all rows. */
  @varargs def groupBy(columns: Column*): StormWindow =
    changed(_.copy(keys = WindowRequest.someOf("groupBy", columns)))

  /** As above, as column names or SQL text. */
  @varargs def groupBy(column: String, columns: String*): StormWindow =
    changed(_.copy(keys = (column +: columns).map(expr)))

  /** Removes a key that has no row for `ttl` of processing time, once all of its rows have been in a
    * window; a day by default.
    */
  def withKeyTtl(ttl: String): StormWindow = set("key_ttl", ttl)

  /** As with text. */
  def withKeyTtl(ttl: Duration): StormWindow = withKeyTtl(SettingText.text(ttl))

  /** Computes aggregates over each window. Its `results` are `window`, the keys, the aggregates; a
    * count window has no start.
    */
  @varargs def agg(aggregates: Column*): WindowBuilder =
    BoltBinding.window(bolt, emitsRows = false).agg(aggregates: _*)

  /** Calls a function with each window. Its `results` are the values that the function returns.
    *
    * If Spark replays a batch, the function is called again for the batch's windows.
    */
  def execute[T: Encoder](function: TupleWindow => IterableOnce[T]): WindowBuilder = {
    val stage = new WindowStage(function)
    BoltBinding.window(bolt, emitsRows = true).withResults(_.mapPartitions(stage).toDF())
  }

  /** As above, with rows of this schema.
    *
    * @param schema
    *   as Spark DDL: `device string, n long`
    */
  def execute(schema: String)(function: TupleWindow => IterableOnce[Row]): WindowBuilder =
    execute(StructType.fromDDL(schema))(function)

  /** As above. */
  def execute(schema: StructType)(function: TupleWindow => IterableOnce[Row]): WindowBuilder =
    execute(function)(Encoders.row(schema))

  /** As above, for Java. */
  def execute[T](function: FlatMapFunction[TupleWindow, T], encoder: Encoder[T]): WindowBuilder =
    execute((window: TupleWindow) => function.call(window).asScala)(encoder)

  /** The late rows of the running bolt as a stream, each late row once.
    *
    * @param streamId
    *   the name declared by `withLateTupleStream`
    */
  def stream(streamId: String, query: StreamingQuery): DataFrame =
    BoltBinding.lateStream(bolt, streamId, query, None)

  /** As above, of one of several windows of the query, by its position from 0. */
  def stream(streamId: String, query: StreamingQuery, window: Int): DataFrame =
    BoltBinding.lateStream(bolt, streamId, query, Some(window))

  /** As above, by the checkpoint location of the query. */
  def stream(streamId: String, session: SparkSession, checkpoint: String): DataFrame =
    BoltBinding.lateStream(bolt, streamId, session, checkpoint, None)

  /** As above, of one of several windows of the query, by its position from 0. */
  def stream(
      streamId: String,
      session: SparkSession,
      checkpoint: String,
      window: Int
  ): DataFrame = BoltBinding.lateStream(bolt, streamId, session, checkpoint, Some(window))

  override def toString: String = s"StormWindow($bolt)"
}

object StormWindow {

  /** A bolt without settings. */
  def apply(): StormWindow = new StormWindow(Bolt())

  /** A bolt without settings, for Java. */
  def create(): StormWindow = apply()

  /** A bolt from a topology's configuration, with Storm's keys, such as
    * `topology.bolts.window.length.duration.ms`, and numbers as in Storm. Keys that do not belong to
    * windows are ignored.
    */
  def fromConfig(config: Map[String, Any]): StormWindow =
    BoltConfig.read(config, StormWindow())

  /** As above, for Java. */
  def fromConfig(config: JMap[String, Object]): StormWindow =
    fromConfig(config.asScala.toMap[String, Any])
}
