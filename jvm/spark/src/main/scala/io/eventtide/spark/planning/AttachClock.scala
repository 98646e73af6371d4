package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import io.eventtide.spark.spi.ClockNode

/** Attaches the clock to a query: a second source that never has a row.
  *
  * Only a source can make Spark run a batch without data. The node exists so that Spark finds that
  * source in the plan. `DetachClock` removes it from the plan of every batch.
  *
  * @param drains
  *   whether the query closes every window after its last row
  */
final case class AttachClock(data: LogicalPlan, clock: LogicalPlan, drains: Boolean = false)
    extends BinaryNode
    with ClockNode {
  override def left: LogicalPlan = data
  override def right: LogicalPlan = clock
  override def output: Seq[Attribute] = data.output

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): AttachClock = copy(newLeft, newRight)
}

/** Keeps only the data side, so that filters and column pruning reach the source below. */
object DetachClock extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case AttachClock(data, _, _) =>
      data
  }
}
