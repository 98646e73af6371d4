package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal, Or}
import org.apache.spark.sql.types.{BooleanType, DataType}

/** Whether a buffer has rows that another aggregate lacks: rows from before that aggregate was added
  * to the query. No new row sets it; state that is rewritten for the aggregate does.
  *
  * @param aggregate
  *   the name of the other aggregate
  */
final case class MissingRows(aggregate: String) extends DeclarativeAggregate {
  private lazy val missing = AttributeReference("missing", BooleanType, nullable = false)()

  override def children: Seq[Expression] = Nil
  override def nullable: Boolean = false
  override def dataType: DataType = BooleanType
  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(missing)
  override lazy val initialValues: Seq[Expression] = Seq(Literal.FalseLiteral)
  override lazy val updateExpressions: Seq[Expression] = Seq(missing)
  override lazy val mergeExpressions: Seq[Expression] = Seq(Or(missing.left, missing.right))
  override lazy val evaluateExpression: Expression = missing

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): MissingRows =
    this
}
