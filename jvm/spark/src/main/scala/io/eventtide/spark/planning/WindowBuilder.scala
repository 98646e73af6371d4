package io.eventtide.spark.planning

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  And,
  Attribute,
  AttributeReference,
  Expression,
  GreaterThanOrEqual,
  LessThanOrEqual,
  Literal,
  PreciseTimestampConversion,
  PythonUDF,
  TimeWindow
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  EventTimeWatermark,
  Filter,
  LogicalPlan,
  Project
}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.{
  BooleanType,
  DataType,
  IntegerType,
  LongType,
  Metadata,
  MetadataBuilder,
  StringType,
  StructField,
  StructType,
  TimestampNTZType
}

import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.spark.options.{
  LateMode,
  OptionReader,
  SessionDefaults,
  SubstreamDescription,
  WatermarkOptionsCodec,
  WindowCodec,
  WindowConflicts,
  WindowSettings
}
import io.eventtide.spark.spi.SubstreamName

/** Puts a window on a stream that has a watermark. */
private[spark] object WindowBuilder {

  /** A window with all of the user's options, validated.
    *
    * @param id
    *   the identity of the window, which plans and late logs are matched by
    * @param eventTime
    *   the event time column; None for the column that has the watermark
    * @param watermark
    *   the options of a watermark to put on the stream; None for a stream that has a watermark
    */
  def window(
      stream: DataFrame,
      id: UUID,
      eventTime: Option[String],
      watermark: Option[Map[String, String]],
      columns: RequestColumns,
      options: Map[String, String]
  ): DataFrame = {
    WindowConflicts.check(
      options,
      hasAggregates = columns.aggregates.nonEmpty,
      isByProcessingTime = eventTime.contains(ProcessingTime)
    )
    val input = watermark match {
      case _ if !stream.isStreaming => WindowInput.batch(stream, eventTime)
      case Some(policy) =>
        val column = eventTime.getOrElse(OptionReader.missing("event_time", "a column name"))
        WindowInput.withWatermark(stream, id, column, columns.substream, policy)
      case None => WindowInput.watermarked(stream, id, eventTime)
    }
    val isLocal = input.eventTime.dataType == TimestampNTZType
    val kept = if (columns.keys.isEmpty) Kept ++ options else options
    val usesIngestionTime = watermarkOf(input).exists(_.usesIngestionTime)
    // The rows of a batch have the column without the watermark.
    val byClock = usesIngestionTime || eventTime.contains(ProcessingTime)
    val settings = WindowCodec.window(
      SessionDefaults.window(kept, stream.sparkSession.conf.getAll, byClock),
      isLocal,
      columns.when.isDefined,
      policy(input, watermark),
      usesIngestionTime
    )
    if (settings.hasRowGaps && columns.gap.isEmpty)
      OptionReader.missing("gap", "the time for which a row keeps its session open")
    build(input, id, columns, settings)
  }

  // A batch plan has no watermark, but it reads the state of a stream that has one.
  private def policy(
      input: WindowInput,
      watermark: Option[Map[String, String]]
  ): Option[PolicySpec] =
    watermarkOf(input)
      .map(_.settings.policy)
      .orElse(
        watermark.map(WatermarkOptionsCodec.watermark(_, SubstreamDescription.named("rows")).policy)
      )

  private def watermarkOf(input: WindowInput): Option[PolicyWatermark] =
    input.stream.queryExecution.analyzed.collectFirst { case node: PolicyWatermark => node }

  private def build(
      input: WindowInput,
      id: UUID,
      columns: RequestColumns,
      settings: WindowSettings
  ): DataFrame = {
    val WindowInput(stream, eventTime, _, _) = input
    val RequestColumns(_, keys, aggregates, when, gap, scope) = columns
    val plan = stream.queryExecution.analyzed
    val seen = input.seen
    val asked =
      if (settings.emitsRows) RowWindowOutput.keys(seen, keys)
      else WindowValidator.aggregation(seen, keys, aggregates)
    val shared = CollatedKeys.shared(asked, settings.hasPanes || settings.emitsRows)
    val keyed = if (settings.emitsRows) RowWindowOutput.withOwnKeys(shared) else shared
    val groups = Option.when(settings.hasGroups)(WatermarkGroupColumns(seen, keyed, scope))
    val grouped = groups.fold(keyed)(_.aggregate)
    val condition = when.map(WindowCondition(seen, keys, aggregates, _))
    val gaps = gap.map(SessionGap(seen, _))
    val subqueries = SubqueryColumns.of(grouped, condition)
    val logs = stream.isStreaming && settings.late.mode == LateMode.Log
    val rowsIn = subqueries.below(if (logs) CarriedSubstream.in(plan) else plan)
    val names = asked.groupingExpressions.map(subqueries.overRows)
    val onTime =
      if (stream.isStreaming) onTimeRows(id, input, rowsIn, names, settings)
      else if (settings.isCountWindow) rowsIn
      else inTime(rowsIn, eventTime, settings)
    val frame = if (settings.isJudgedByKey) micros(eventTime) else frameOf(eventTime, settings)
    val logged = onTime match {
      case judged: LateRowFilter if settings.isJudgedByKey => Some(judged.logged ++ judged.names)
      case _ => None
    }
    val stored = settings.retainingRows.map { storm =>
      if (storm.emitsRows) input.columns else columnsOf(subqueries.in(keyed).aggregateExpressions)
    }
    val kept = logged.map(keptForLateRows) ++
      groups.map(of => keptAs("_eventtide_group", of.columns, CarriedColumns.ForGroups)) ++
      stored.map(keptAs("_eventtide_row", _, CarriedColumns.ForRows)) ++
      gaps.map(of => keptAs("_eventtide_gaps", Seq(of.toAttribute), CarriedColumns.ForGaps))
    val computed = groups.fold(Seq.empty[Alias])(_.computed) ++ gaps
    val framed = Project((onTime.output :+ frame) ++ computed, onTime)
    val computing = subqueries.in(
      grouped.copy(aggregateExpressions = grouped.aggregateExpressions ++ condition)
    )
    val aggregate = Aggregate(
      computing.groupingExpressions :+ frame.toAttribute,
      (computing.aggregateExpressions ++ kept) :+ frame.toAttribute,
      framed
    )
    val node = WindowAggregate(
      id,
      frame.toAttribute,
      if (settings.emitsRows) RowWindowOutput.window(eventTime) else window(eventTime, settings),
      if (settings.emitsRows) RowWindowOutput.columns(input.columns, shared)
      else if (settings.hasPanes) paneColumns(settings)
      else Nil,
      HiddenColumns(
        condition.map(_.exprId),
        kept.map(_.exprId).toSeq,
        if (settings.emitsRows) keyed.aggregateExpressions.map(_.exprId) else Nil
      ),
      computing.aggregateExpressions
        .flatMap(_.collect { case call: AggregateExpression => AggregateName.of(call) }),
      settings,
      aggregate
    )
    SparkInternals.dataFrame(stream.sparkSession, WindowValidator.results(node))
  }

  // Removes the rows that a stream would reject.
  private def inTime(plan: LogicalPlan, time: Attribute, settings: WindowSettings): LogicalPlan = {
    def at(micros: Long) = Literal(micros, time.dataType)
    val (lowest, highest) = (at(settings.times.lowest), at(settings.times.highest))
    Filter(And(GreaterThanOrEqual(time, lowest), LessThanOrEqual(time, highest)), plan)
  }

  /** The column that is added for windows by processing time. */
  val ProcessingTime = "_processing_time"

  // The mark makes Spark accept that the aggregation by this column can be finalized.
  private def frameOf(eventTime: Attribute, settings: WindowSettings): Alias =
    Alias(FrameNumber(eventTime, settings.spec.frames), "_eventtide_frame")(
      explicitMetadata = Some(Mark)
    )

  private[planning] def micros(eventTime: Attribute): Alias =
    Alias(PreciseTimestampConversion(eventTime, eventTime.dataType, LongType), Micros)(
      explicitMetadata = Some(Mark)
    )

  // In an order that the optimizer does not change, because rows in state have this column order.
  private def columnsOf(aggregates: Seq[Expression]): Seq[Attribute] =
    aggregates
      .flatMap(_.collect { case call: AggregateExpression => call })
      .flatMap(_.collect { case column: Attribute => column })
      .distinctBy(_.exprId)

  /** The columns that a window keeps of a row, to log it if it is late. */
  private[planning] def keptForLateRows(columns: Seq[Expression]): Alias =
    keptAs("_eventtide_kept", columns, CarriedColumns.ForLateRows)

  private def keptAs(name: String, columns: Seq[Expression], use: CarriedColumns.Use): Alias =
    Alias(CarriedColumns(columns, use).toAggregateExpression(), name)()

  private def paneColumns(settings: WindowSettings): Seq[Attribute] = {
    def column(name: String, kind: DataType) = AttributeReference(name, kind, nullable = false)()
    Seq(
      column("pane_index", IntegerType),
      column("pane_timing", StringType),
      column("is_last", BooleanType)
    ) ++ Option.when(settings.emit.isDefined)(column("trigger", StringType))
  }

  // Late rows that are only counted need no columns, so Spark prunes them.
  private def onTimeRows(
      id: UUID,
      input: WindowInput,
      plan: LogicalPlan,
      keys: Seq[Expression],
      settings: WindowSettings
  ): LateRowFilter = {
    val keeps = settings.late.mode == LateMode.Log
    val (logged, names) =
      if (keeps) (input.columns, Seq(substreamName(plan), key(keys))) else (Nil, Nil)
    LateRowFilter(id, input.eventTime, logged, names, input.guard, settings, plan)
  }

  // Null for keys with a Python UDF, because Spark would call the UDF for each row, late or not.
  private def key(keys: Seq[Expression]): Expression =
    if (keys.isEmpty || keys.exists(_.exists(_.isInstanceOf[PythonUDF]))) Literal(null, StringType)
    else SubstreamName.expression(keys)

  private def substreamName(plan: LogicalPlan): Expression =
    CarriedSubstream.of(plan).fold[Expression](Literal(null, StringType))(SubstreamName.expression)

  // Without keys all rows have one key, whose state costs nothing. The TTL of 100 years keeps its
  // watermark practically forever.
  private val Kept = Map("key_ttl" -> "PT876000H")

  private val Mark: Metadata =
    new MetadataBuilder().putLong(EventTimeWatermark.delayKey, 0).build()

  // Marked like Spark windows: the end is an event time, and `window_time` accepts the column.
  private def window(eventTime: Attribute, settings: WindowSettings): Attribute = {
    val bound = if (settings.isCountWindow) LongType else eventTime.dataType
    val hasStart = settings.retainingRows.forall(_.hasStart)
    val bounds =
      Seq(StructField("start", bound, !hasStart), StructField("end", bound, nullable = false))
    val marks = new MetadataBuilder().withMetadata(Mark).putBoolean(TimeWindow.marker, true).build()
    val metadata = if (settings.isCountWindow) Metadata.empty else marks
    AttributeReference("window", StructType(bounds), nullable = false, metadata)()
  }

  /** The column with the event times of rows that are not pre-aggregated. */
  private[planning] val Micros = "_eventtide_micros"
}
