package io.eventtide.spark.planning

import java.time.Duration
import java.util.UUID

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.eventtide.{SparkInternals, SparkShims}
import org.apache.spark.sql.functions.current_timestamp

import io.eventtide.kernel.watermark.WithFixedLag
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.{
  SessionDefaults,
  SubstreamDescription,
  WatermarkOptionsCodec,
  WatermarkSettings
}
import io.eventtide.spark.query.run.PlanValidator
import io.eventtide.spark.source.ClockSource

/** Puts a policy's watermark on a stream. All errors are reported here, before anything runs. */
private[spark] object WatermarkBuilder {

  def withWatermark(
      stream: DataFrame,
      nodeId: UUID,
      eventTime: String,
      substream: Seq[Column],
      options: Map[String, String]
  ): DataFrame = {
    val time = EventTimeColumn.shown(stream, eventTime)
    val (choice, settings) = checked(time, eventTime, substream, options)
    if (stream.isStreaming) build(time, nodeId, choice, settings) else time.rows
  }

  /** As `withWatermark` on a stream, but rows without a usable time and rows that `guard_future`
    * refuses stay in the stream. The window above removes them.
    */
  def underWindow(
      time: EventTimeColumn,
      nodeId: UUID,
      eventTime: String,
      substream: Seq[Column],
      options: Map[String, String]
  ): (DataFrame, WatermarkSettings) = {
    val (choice, settings) = checked(time, eventTime, substream, options)
    val keeping = settings.copy(keepsRefused = true)
    (build(time, nodeId, choice, keeping), keeping)
  }

  private def checked(
      time: EventTimeColumn,
      eventTime: String,
      substream: Seq[Column],
      options: Map[String, String]
  ): (SubstreamSelection, WatermarkSettings) = {
    EventTimeColumn.checkType(time.column, eventTime)
    val stream = time.rows
    val plan = stream.queryExecution.analyzed
    val choice =
      if (substream.isEmpty) SubstreamSelection.default(plan)
      else SubstreamSelection.named(stream, substream)
    val chosen = SessionDefaults.watermark(options, stream.sparkSession.conf.getAll)
    val settings = WatermarkOptionsCodec.watermark(chosen, choice.label)
    PlanValidator.noWatermarkYet(plan, eventTime)
    (choice, settings)
  }

  /** Adds the creation time of each batch, and a watermark on it that never lags behind a row. */
  def withIngestionTime(
      stream: DataFrame,
      nodeId: UUID,
      into: String,
      options: Map[String, String]
  ): DataFrame = {
    val plan = stream.queryExecution.analyzed
    if (plan.output.exists(column => plan.conf.resolver(column.name, into))) {
      throw EventtideException("COLUMN_EXISTS", "column" -> into)
    }
    val settings = WatermarkOptionsCodec.ingestion(options)
    PlanValidator.noWatermarkYet(plan, into)
    if (!stream.isStreaming) stream.withColumn(into, current_timestamp())
    else {
      val column = Alias(IngestionTime(), into)()
      val timed = Project(plan.output :+ column, plan)
      val time = EventTimeColumn(stream, column.toAttribute)
      build(time, nodeId, SubstreamSelection(Nil, SubstreamDescription.Global, timed), settings)
    }
  }

  /** A watermark with a fixed lag over the whole stream, like Spark's `withWatermark`. */
  def fixedLag(
      session: SparkSession,
      nodeId: UUID,
      data: LogicalPlan,
      eventTime: Attribute,
      lag: Duration
  ): LogicalPlan = {
    val options = Map("policy" -> WithFixedLag.name, "lag" -> lag.toString)
    val settings = WatermarkOptionsCodec.watermark(options, SubstreamDescription.Global)
    PolicyWatermark(nodeId, eventTime, AttachClock(data, clock(session, data)), Nil, None, settings)
  }

  private def build(
      time: EventTimeColumn,
      nodeId: UUID,
      choice: SubstreamSelection,
      settings: WatermarkSettings
  ): DataFrame = {
    val EventTimeColumn(stream, column) = time
    val session = stream.sparkSession
    val data = AttachClock(choice.plan, clock(session, choice.plan))
    val mark = settings.policy.markColumns.headOption.map(EventTimeColumn.mark(stream, _, column))
    val watermark = PolicyWatermark(nodeId, column, data, choice.keys, mark, settings)
    SparkInternals.dataFrame(session, withoutAddedKeys(watermark, stream, column))
  }

  // If Spark requires names for all sources, the clock is named after the sources of its plan. No
  // other clock of the query has this name, and it is the same after a restart.
  private def clock(session: SparkSession, data: LogicalPlan): LogicalPlan = {
    val names = SparkShims.sourceNames(data)
    val reader = session.readStream.format(classOf[ClockSource].getName)
    val named =
      if (names.isEmpty) reader else SparkShims.named(reader, s"${names.mkString("_")}_clock")
    named.load().queryExecution.analyzed
  }

  // Keys added for the substream are not the user's columns, but Kafka's keys may be.
  private def withoutAddedKeys(
      watermark: PolicyWatermark,
      stream: DataFrame,
      column: Attribute
  ): LogicalPlan = {
    val theirs = stream.queryExecution.analyzed.outputSet + column
    val kept = watermark.output.filter(theirs.contains)
    if (kept.length == watermark.output.length) watermark else Project(kept, watermark)
  }
}
