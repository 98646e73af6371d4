package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.util.toPrettySQL

/** The name of an aggregate, as users write it, with the types of its arguments. The optimizer may
  * change the aggregate, but keeps its id.
  */
final case class AggregateName(id: ExprId, text: String)

private[planning] object AggregateName {

  def of(call: AggregateExpression): AggregateName = {
    val types = call.aggregateFunction.children.map(_.dataType.sql)
    AggregateName(call.resultId, s"${toPrettySQL(call)} of ${types.mkString(", ")}")
  }
}
