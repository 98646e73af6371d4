package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}

/** What Spark has found for the subqueries of an operator, when it executes the operator. */
private[operators] object SubqueryValues {
  def of(subqueries: Seq[Expression]): Seq[Literal] =
    subqueries.map(query => Literal(query.eval(), query.dataType))
}
