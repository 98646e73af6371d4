package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Min}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  Cast,
  CollationKey,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.StringType

/** Keys that may be equal and differ in their bytes, by which state finds them.
  *
  * Rows are grouped by the form that all equal texts share. The key of a result is the lowest of its
  * window's, by bytes: the first one, as Spark shows it, would depend on the order of rows.
  */
private[plan] object CollatedKeys {

  def isCollated(key: Expression): Boolean = key.dataType match {
    case text: StringType => !UnsafeRowUtils.isBinaryStable(text)
    case _ => false
  }

  /** The aggregation by what such keys share. */
  def shared(aggregate: Aggregate): Aggregate = {
    val collated = aggregate.groupingExpressions.filter(isCollated)
    def isOne(value: Expression) = collated.exists(_.semanticEquals(value))
    def shown(value: Expression): Expression = value match {
      case call: AggregateExpression => call
      case key if isOne(key) => lowest(key)
      case other => other.mapChildren(shown)
    }
    val columns = aggregate.aggregateExpressions.map {
      case key: Attribute if isOne(key) => Alias(lowest(key), key.name)(key.exprId)
      case other => shown(other).asInstanceOf[NamedExpression]
    }
    if (collated.isEmpty) aggregate
    else
      aggregate.copy(
        groupingExpressions = aggregate.groupingExpressions.map { key =>
          if (isOne(key)) CollationKey(key) else key
        },
        aggregateExpressions = columns
      )
  }

  private def lowest(key: Expression): Expression =
    Cast(Min(Cast(key, StringType)).toAggregateExpression(), key.dataType)
}
