package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}

/** Prepares windows for real-time mode, in which rows are not aggregated before the shuffle: rows
  * keep their time, and the columns that are logged if they are late.
  */
private[planning] object RealTimeRows {

  def apply(query: LogicalPlan): LogicalPlan = query.transform {
    case window: WindowAggregate if !window.isRowByRow => rowByRow(window)
  }

  private def rowByRow(window: WindowAggregate): LogicalPlan = window.child match {
    case aggregate @ Aggregate(_, results, Project(columns, judged: LateRowFilter), _) =>
      val kept = Option.when(judged.logged.nonEmpty) {
        WindowBuilder.keptForLateRows(judged.logged ++ judged.names)
      }
      val (carried, frame) = (results.init ++ kept, results.last)
      val times = columns.map(timeOf(window, judged, _))
      window.copy(
        hidden = window.hidden.copy(kept = window.hidden.kept ++ kept.map(_.exprId)),
        isRealTime = true,
        child = aggregate.copy(
          aggregateExpressions = carried :+ frame,
          child = Project(times, judged)
        )
      )
    case other => throw new IllegalStateException(s"a window over no frames: $other")
  }

  private def timeOf(
      window: WindowAggregate,
      judged: LateRowFilter,
      column: NamedExpression
  ): NamedExpression = column match {
    case frame: Alias if frame.exprId == window.frame.exprId =>
      val micros = WindowBuilder.micros(judged.eventTime)
      Alias(micros.child, micros.name)(
        frame.exprId,
        explicitMetadata = frame.explicitMetadata
      )
    case other => other
  }
}
