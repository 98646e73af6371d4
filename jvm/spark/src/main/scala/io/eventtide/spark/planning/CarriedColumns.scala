package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal}
import org.apache.spark.sql.types.{DataType, NullType}

/** Columns that nothing is computed from, but that a window needs of its rows: an aggregate that is
  * never evaluated, so that Spark resolves them, renames them and keeps them as it does others.
  *
  * @param use
  *   what for
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

  /** They are kept of late rows. */
  case object OfLateRows extends Use

  /** They tell groups of keys. */
  case object OfGroups extends Use

  /** They are those of rows that windows hand out. */
  case object OfRows extends Use
}
