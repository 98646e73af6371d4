package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.{EmptyRelation, LocalRelation, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.aggregate.AggUtils
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.BinaryType

import io.eventtide.spark.operators.late.{LateRowFilterExec, LateRowFilterSpec}
import io.eventtide.spark.operators.preagg.{
  MapSideFrameAggregateExec,
  OnTimeRowFilter,
  PackedRowsExec,
  PartialFrameAggregateExec
}
import io.eventtide.spark.operators.watermark.TimeMarkerExec
import io.eventtide.spark.operators.window.{BatchEventtideWindowExec, EventtideWindowExec}
import io.eventtide.spark.operators.{Preaggregation, WindowBatchContext, WindowOperatorSpec}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.query.run.QueryWindowBatch

/** Plans windows: on-time rows are pre-aggregated by key and frame if possible, then shuffled to
  * the partitions of their keys and merged there.
  */
final case class WindowStrategy(session: SparkSession) extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case node: LateRowFilter if node.settings.isJudgedByKey => planLater(node.child) :: Nil
    case node: LateRowFilter => planFilter(node) :: Nil
    case node: WindowAggregate =>
      node.child match {
        // Spark has determined that there are no rows, before the batch or by adaptive execution.
        case _: LocalRelation | _: EmptyRelation => planLater(LocalRelation(node.output)) :: Nil
        case _ => planWindow(node) :: Nil
      }
    case _ => Nil
  }

  // In real-time mode, rows are judged after the shuffle.
  private def planFilter(node: LateRowFilter): SparkPlan = {
    val batch = QueryWindowBatch.of(session, node.nodeId)
    val settings = batch.fold(node.settings)(_.settings)
    val limits = LateRowFilterSpec(node.eventTime, node.logged ++ node.names, node.guard, settings)
    val rows = planLater(node.child)
    if (batch.exists(_.isRealTime)) rows else LateRowFilterExec(limits, batch, rows)
  }

  private def planWindow(asked: WindowAggregate): SparkPlan = {
    val batch = if (asked.isStreaming) QueryWindowBatch.of(session, asked.nodeId) else None
    val node = batch.fold(asked)(begun => asked.under(begun.settings))
    val planned = WindowPlanning(node, batch.flatMap(_.aggregateHistory))
    def rows = ProjectExec(planned.columns, planLater(planned.child))
    val window = planned.window
    if (!node.isStreaming) {
      val input = if (node.settings.isJudgedByKey) Preaggregation.Off else Preaggregation.AllByFrame
      val child = if (node.settings.isJudgedByKey) rows else byFrame(planned)
      BatchEventtideWindowExec(window, input, window.subqueries, child)
    } else {
      val input =
        if (!batch.exists(_.isRealTime)) preaggregation(node.settings, planned)
        else if (node.settings.hasOwnTime) Preaggregation.RowByRow
        else Preaggregation.MarkedRows
      val child = input match {
        case Preaggregation.MarkedRows => marked(window, batch.get, rows)
        case Preaggregation.Off | Preaggregation.RowByRow => rows
        case Preaggregation.PackedRows => packed(planned.window, rows)
        case Preaggregation.OnTimeRows => byKeyIfOnTime(planned, batch, rows)
        case Preaggregation.AllByFrame => byFrame(planned)
        case Preaggregation.AllByKey => byKey(planned)
      }
      EventtideWindowExec(window, batch, input, window.subqueries, child)
    }
  }

  private def marked(window: WindowOperatorSpec, batch: WindowBatchContext, rows: SparkPlan) = {
    val partitions = if (window.together.isEmpty) 1 else batch.stateInfo.numPartitions
    TimeMarkerExec.shuffled(window.together, partitions, batch.inputPosition, rows)
  }

  private def preaggregation(settings: WindowSettings, planned: WindowPlanning): Preaggregation = {
    val WindowPlanning(_, _, aggregates, window, _, _) = planned
    if (!settings.isJudgedByKey)
      if (PartialFrameAggregateExec.supports(window.keys, aggregates)) Preaggregation.AllByKey
      else Preaggregation.AllByFrame
    else if (
      WindowStrategy.isStrict && !settings.byKey.exists(_.learnsLag) &&
      MapSideFrameAggregateExec.supports(window, aggregates)
    ) Preaggregation.OnTimeRows
    else if (window.arrival.isDefined) Preaggregation.PackedRows
    else Preaggregation.Off
  }

  private def packed(window: WindowOperatorSpec, rows: SparkPlan): SparkPlan =
    PackedRowsExec(window.keys, window.arrival.get, Preaggregation.newPacks, rows)

  private def byKeyIfOnTime(
      planned: WindowPlanning,
      batch: Option[WindowBatchContext],
      rows: SparkPlan
  ) = {
    val WindowPlanning(node, _, aggregates, window, _, _) = planned
    val time = window.frame
    val frame = FrameNumber(time, node.settings.spec.frames)
    val onTimeFilterOf = OnTimeRowFilter.of(window, batch) _
    MapSideFrameAggregateExec(
      window.keys,
      time,
      frame,
      aggregates,
      framesColumn,
      onTimeFilterOf,
      rows
    )
  }

  private def framesColumn = AttributeReference("frames", BinaryType)()

  /** The partial aggregation of Spark. */
  private def byFrame(planned: WindowPlanning): SparkPlan = AggUtils
    .planAggregateWithoutDistinct(
      planned.grouping,
      planned.aggregates,
      Nil,
      planLater(planned.child)
    )
    .head // the final aggregation, which Eventtide's operator replaces
    .children
    .head

  private def byKey(planned: WindowPlanning): SparkPlan = PartialFrameAggregateExec(
    planned.grouping.init,
    planned.grouping.last,
    planned.aggregates,
    framesColumn,
    planLater(planned.child)
  )
}

object WindowStrategy {

  /** Whether rows are partitioned by the hash of all key columns. The lateness bounds of partitions
    * rely on it.
    */
  private def isStrict: Boolean =
    SQLConf.get.getConf(SQLConf.STATEFUL_OPERATOR_USE_STRICT_DISTRIBUTION)
}
