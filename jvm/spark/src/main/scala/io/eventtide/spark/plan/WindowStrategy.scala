package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeReference,
  CreateNamedStruct,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
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
    case node @ WindowAggregate(
          _,
          _,
          _,
          _,
          PhysicalAggregation(grouping, aggregates, columns, child)
        ) =>
      planWindow(node, grouping, aggregates, columns, child) :: Nil
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
    val window = WindowPlan(
      groups.init,
      groups.last,
      aggregates.map(_.aggregateFunction),
      deduction.fold(Seq.empty[Int])(_.counts),
      result(node.window, aggregates, columns.filterNot(_.exprId == node.frame.exprId)),
      node.settings
    )
    if (node.isStreaming) WindowExec(window, WindowBatch.of(session, node.nodeId), partial)
    else BatchWindowExec(window, partial)
  }

  private def result(
      window: Attribute,
      aggregates: Seq[AggregateExpression],
      columns: Seq[NamedExpression]
  ): WindowResult = {
    val bounds = window.dataType.asInstanceOf[StructType].fields.toSeq.map { bound =>
      AttributeReference(bound.name, bound.dataType, nullable = false)()
    }
    val parts = bounds.flatMap(bound => Seq(Literal(bound.name), bound))
    val made = Alias(CreateNamedStruct(parts), window.name)(
      window.exprId,
      explicitMetadata = Some(window.metadata)
    )
    WindowResult(bounds, aggregates.map(_.resultAttribute), made +: columns)
  }
}
