package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  AttributeReference,
  CreateNamedStruct,
  Expression,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.operators.{ResultLayout, WindowOperatorSpec}
import io.eventtide.spark.options.AggregateHistory

/** The planned parts of a window.
  *
  * @param grouping
  *   the keys and the frame by which rows are pre-aggregated, if rows are pre-aggregated
  * @param aggregates
  *   all computed aggregates, including those that the user did not request
  * @param columns
  *   the columns of rows that are not pre-aggregated; empty if rows are pre-aggregated
  * @param child
  *   the input of the aggregation
  */
private[planning] final case class WindowPlanning(
    node: WindowAggregate,
    grouping: Seq[NamedExpression],
    aggregates: Seq[AggregateExpression],
    window: WindowOperatorSpec,
    columns: Seq[NamedExpression],
    child: LogicalPlan
)

private[planning] object WindowPlanning {

  /** @param node
    *   a node of an optimized plan
    * @param history
    *   the aggregates that the window has had on its checkpoint; None if they have never changed
    */
  def apply(node: WindowAggregate, history: Option[AggregateHistory]): WindowPlanning =
    node.child match {
      case PhysicalAggregation(grouping, calls, columns, child) =>
        plan(node, history, grouping.map(SparkInternals.normalized), calls, columns, child)
      case other => throw new IllegalStateException(s"a window over no aggregation: $other")
    }

  private def plan(
      node: WindowAggregate,
      history: Option[AggregateHistory],
      grouping: Seq[NamedExpression],
      calls: Seq[AggregateExpression],
      columns: Seq[NamedExpression],
      child: LogicalPlan
  ): WindowPlanning = {
    val (kept, requested) = calls.partition(_.aggregateFunction.isInstanceOf[CarriedColumns])
    val keptOf = kept.map(_.aggregateFunction).collect { case one: CarriedColumns => one }
    val computed = ComputedAggregates(node, requested, history)
    val aggregates = computed.aggregates
    val groups = grouping.map(_.toAttribute)
    val (hidden, shown) = columns
      .map(computed.valueOf)
      .filterNot(_.exprId == node.frame.exprId)
      .partition(column => node.hidden.ids.contains(column.exprId))
    val window = WindowOperatorSpec(
      groups.init,
      groups.last,
      aggregates.map(_.aggregateFunction),
      computed.counts,
      node.hidden.condition.flatMap(id => hidden.find(_.exprId == id)).map(valueOf),
      if (node.settings.emitsRows) ResultLayout(Nil, Nil, Nil, node.output, keysOf(node, hidden))
      else result(node, aggregates, shown),
      node.settings,
      computed.names
    )
    if (!node.isRowByRow) WindowPlanning(node, grouping, aggregates, window, Nil, child)
    else {
      val rows = RowInputPlanning(node, grouping, aggregates, keptOf)
      val byRow = window.copy(rows = Some(rows.spec))
      WindowPlanning(node, grouping, aggregates, byRow, rows.columns, child)
    }
  }

  private def keysOf(node: WindowAggregate, hidden: Seq[NamedExpression]): Seq[Expression] =
    node.hidden.keys.flatMap(id => hidden.find(_.exprId == id)).map(valueOf)

  private def valueOf(column: NamedExpression): Expression = column match {
    case Alias(value, _) => value
    case other => other
  }

  private def result(
      node: WindowAggregate,
      aggregates: Seq[AggregateExpression],
      columns: Seq[NamedExpression]
  ): ResultLayout = {
    val window = node.window
    val bounds = window.dataType.asInstanceOf[StructType].fields.toSeq.map { bound =>
      AttributeReference(bound.name, bound.dataType, bound.nullable)()
    }
    val parts = bounds.flatMap(bound => Seq(Literal(bound.name), bound))
    val windowColumn = Alias(CreateNamedStruct(parts), window.name)(
      window.exprId,
      explicitMetadata = Some(window.metadata)
    )
    val results = aggregates.map(_.resultAttribute)
    ResultLayout(bounds, results, node.pane, (windowColumn +: columns) ++ node.pane)
  }
}
