package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** Adds `column`, the time at which a batch was made, to every row: one value a batch. */
final case class IngestionTime(column: Attribute, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output :+ column
  override def producedAttributes: AttributeSet = AttributeSet(column)

  override protected def withNewChildInternal(newChild: LogicalPlan): IngestionTime =
    copy(child = newChild)
}
