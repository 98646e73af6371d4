package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Count}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  AttributeReference,
  CreateNamedStruct,
  Expression,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.{EmptyRelation, LocalRelation, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.Planning
import org.apache.spark.sql.execution.aggregate.AggUtils
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.exec.{
  BatchWindowExec,
  OnTimeLimits,
  OnTimeRowsExec,
  WindowExec,
  WindowPlan,
  WindowResult
}
import io.eventtide.spark.query.WindowBatch
import io.eventtide.spark.state.Deduction

/** Plans windows: rows that are not late, aggregated by key and frame where they are, then sent to
  * their keys' partitions and put together there.
  */
final case class WindowStrategy(session: SparkSession) extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case node: OnTimeRows =>
      val limits = OnTimeLimits(node.eventTime, node.logged, node.guard, node.settings)
      OnTimeRowsExec(limits, WindowBatch.of(session, node.nodeId), planLater(node.child)) :: Nil
    case node: WindowAggregate =>
      node.child match {
        case PhysicalAggregation(grouping, calls, columns, child) =>
          planWindow(node, grouping, calls, columns, child) :: Nil
        // Spark has found out that there are no rows, before the batch runs or while it does.
        case _: LocalRelation | _: EmptyRelation => planLater(LocalRelation(node.output)) :: Nil
        case other => throw new IllegalStateException(s"a window over no aggregation: $other")
      }
    case _ => Nil
  }

  private def planWindow(
      node: WindowAggregate,
      grouping: Seq[NamedExpression],
      calls: Seq[AggregateExpression],
      columns: Seq[NamedExpression],
      child: LogicalPlan
  ): SparkPlan = {
    val deduction = Deduction.of(calls)
    val aggregates = deduction.fold(calls)(_.aggregates)
    val normalized = grouping.map(Planning.normalized)
    val partial = AggUtils
      .planAggregateWithoutDistinct(normalized, aggregates, Nil, planLater(child))
      .head // the final aggregation, which is ours to do
      .children
      .head
    val groups = normalized.map(_.toAttribute)
    val (hidden, shown) = columns
      .filterNot(_.exprId == node.frame.exprId)
      .partition(column => node.hidden.ids.contains(column.exprId))
    val window = WindowPlan(
      groups.init,
      groups.last,
      aggregates.map(_.aggregateFunction),
      deduction.fold(Seq.empty[Int])(_.counts),
      node.hidden.rows.fold(-1)(_ => rowsOrdinal(aggregates)),
      node.hidden.condition.flatMap(id => hidden.find(_.exprId == id)).map(valueOf),
      result(node, aggregates, shown),
      node.settings
    )
    if (node.isStreaming) WindowExec(window, WindowBatch.of(session, node.nodeId), partial)
    else BatchWindowExec(window, partial)
  }

  private def valueOf(column: NamedExpression): Expression = column match {
    case Alias(value, _) => value
    case other => other
  }

  // The number of rows was asked for, so there is a count of them.
  private def rowsOrdinal(aggregates: Seq[AggregateExpression]): Int = {
    val functions = aggregates.map(_.aggregateFunction)
    val count = aggregates.indexWhere { call =>
      call.aggregateFunction == Count(Literal(1)) && call.filter.isEmpty
    }
    functions.take(count).map(_.aggBufferAttributes.length).sum
  }

  private def result(
      node: WindowAggregate,
      aggregates: Seq[AggregateExpression],
      columns: Seq[NamedExpression]
  ): WindowResult = {
    val window = node.window
    val bounds = window.dataType.asInstanceOf[StructType].fields.toSeq.map { bound =>
      AttributeReference(bound.name, bound.dataType, nullable = false)()
    }
    val parts = bounds.flatMap(bound => Seq(Literal(bound.name), bound))
    val made = Alias(CreateNamedStruct(parts), window.name)(
      window.exprId,
      explicitMetadata = Some(window.metadata)
    )
    val results = aggregates.map(_.resultAttribute)
    WindowResult(bounds, results, node.pane, (made +: columns) ++ node.pane)
  }
}
