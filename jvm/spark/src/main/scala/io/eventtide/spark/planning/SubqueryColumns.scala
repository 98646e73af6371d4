package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Expression,
  InSubquery,
  NamedExpression,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.toPrettySQL

/** The subqueries in the keys and in the aggregates' arguments of a window, as columns of its rows.
  *
  * Spark computes every kind of subquery in a projection. In Eventtide's window operators it would
  * not find all of them. Subqueries outside aggregates do not move. They are evaluated in the batch
  * that emits a result.
  */
private[planning] final class SubqueryColumns private (columns: Seq[Alias], keys: Seq[Expression]) {

  /** The rows with these columns. */
  def below(rows: LogicalPlan): LogicalPlan =
    if (columns.isEmpty) rows else Project(rows.output ++ columns, rows)

  /** The expression over rows, with subqueries replaced by their columns. */
  def overRows(value: Expression): Expression =
    if (columns.isEmpty) value
    else
      value.transformDown { case query @ SubqueryColumns.Query() =>
        columns.find(_.child.semanticEquals(query)).fold(query)(_.toAttribute)
      }

  /** The aggregation, with subqueries replaced by their columns. */
  def in(aggregate: Aggregate): Aggregate = aggregate.copy(
    groupingExpressions = aggregate.groupingExpressions.map(overRows),
    aggregateExpressions =
      aggregate.aggregateExpressions.map(inResult(_).asInstanceOf[NamedExpression])
  )

  /** The expression over keys and aggregates, with subqueries replaced by their columns. */
  def inResult(value: Expression): Expression =
    if (SubqueryColumns.dependsOnRows(value, keys)) overRows(value) else value.mapChildren(inResult)
}

private[planning] object SubqueryColumns {

  /** The subqueries of an aggregation and of a condition on its results. */
  def of(aggregate: Aggregate, condition: Option[Expression]): SubqueryColumns = {
    val keys = aggregate.groupingExpressions
    val values = keys ++ aggregate.aggregateExpressions ++ condition
    val queries = values.flatMap(rowDependent(_, keys)).flatMap(topmost)
    val distinct = queries.foldLeft(Seq.empty[Expression]) { (seen, query) =>
      if (seen.exists(_.semanticEquals(query))) seen else seen :+ query
    }
    new SubqueryColumns(distinct.map(query => Alias(query, toPrettySQL(query))()), keys)
  }

  private def rowDependent(value: Expression, keys: Seq[Expression]): Seq[Expression] =
    if (dependsOnRows(value, keys)) Seq(value) else value.children.flatMap(rowDependent(_, keys))

  private def topmost(value: Expression): Seq[Expression] = value match {
    case query @ Query() => Seq(query)
    case other => other.children.flatMap(topmost)
  }

  private def dependsOnRows(value: Expression, keys: Seq[Expression]): Boolean = value match {
    case _: AggregateExpression => true
    case other => keys.exists(_.semanticEquals(other))
  }

  private object Query {
    def unapply(value: Expression): Boolean = value match {
      case _: InSubquery | _: SubqueryExpression => true
      case _ => false
    }
  }
}
