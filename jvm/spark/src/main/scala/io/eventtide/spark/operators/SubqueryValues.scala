package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}

/** The values of an operator's subqueries, which Spark computes before the operator executes. */
private[operators] object SubqueryValues {
  def of(subqueries: Seq[Expression]): Seq[Literal] =
    subqueries.map(query => Literal(query.eval(), query.dataType))
}
