package io.eventtide.spark.planning

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
import org.apache.spark.sql.catalyst.util.{UnsafeRowUtils, toPrettySQL}
import org.apache.spark.sql.types.StringType

import io.eventtide.spark.EventtideException

/** Keys that may be equal but differ in their bytes. State looks keys up by their bytes.
  *
  * Rows are grouped by the form that all equal texts share. A result has the lowest key of its
  * window, by bytes. The first key, which Spark shows, would depend on the order of rows.
  */
private[planning] object CollatedKeys {

  def isCollated(key: Expression): Boolean = key.dataType match {
    case text: StringType => !UnsafeRowUtils.isBinaryStable(text)
    case _ => false
  }

  /** The aggregation by the shared form of such keys.
    *
    * @param inPanes
    *   whether windows emit several rows, which are identified by their keys
    */
  def shared(aggregate: Aggregate, inPanes: Boolean): Aggregate = {
    val collated = aggregate.groupingExpressions.filter(isCollated)
    collated.headOption.filter(_ => inPanes).foreach { key =>
      throw EventtideException("COLLATED_KEY_WITH_PANES", "key" -> toPrettySQL(key))
    }
    if (collated.isEmpty) aggregate
    else grouped(aggregate, value => collated.exists(value.semanticEquals))
  }

  private def grouped(aggregate: Aggregate, isOne: Expression => Boolean): Aggregate = {
    def shown(value: Expression): Expression = value match {
      case call: AggregateExpression => call
      case key if isOne(key) => lowest(key)
      case other => other.mapChildren(shown)
    }
    aggregate.copy(
      groupingExpressions = aggregate.groupingExpressions.map { key =>
        if (isOne(key)) CollationKey(key) else key
      },
      aggregateExpressions = aggregate.aggregateExpressions.map {
        case key: Attribute if isOne(key) => Alias(lowest(key), key.name)(key.exprId)
        case other => shown(other).asInstanceOf[NamedExpression]
      }
    )
  }

  private def lowest(key: Expression): Expression =
    Cast(Min(Cast(key, StringType)).toAggregateExpression(), key.dataType)
}
