package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal}
import org.apache.spark.sql.types.{DataType, NullType}

/** Columns that a window needs for its rows, but not for its results. They form an aggregate that
  * is never evaluated, so that Spark resolves, renames and keeps them like other columns.
  *
  * @param use
  *   the purpose of the columns
  */
final case class CarriedColumns(children: Seq[Expression], use: CarriedColumns.Use)
    extends DeclarativeAggregate {
  override def nullable: Boolean = true
  override def dataType: DataType = NullType
  override lazy val aggBufferAttributes: Seq[AttributeReference] = Nil
  override lazy val initialValues: Seq[Expression] = Nil
  override lazy val updateExpressions: Seq[Expression] = Nil
  override lazy val mergeExpressions: Seq[Expression] = Nil
  override lazy val evaluateExpression: Expression = Literal(null)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): CarriedColumns = copy(children = newChildren)
}

object CarriedColumns {
  sealed trait Use

  /** The columns are logged for late rows. */
  case object ForLateRows extends Use

  /** The columns identify groups of keys. */
  case object ForGroups extends Use

  /** The column is the session gap of the row. */
  case object ForGaps extends Use

  /** The columns are stored for rows that windows keep individually. */
  case object ForRows extends Use
}
