package io.eventtide.spark.planning

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.eventtide.RealTimePlans
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}

import io.eventtide.spark.operators.watermark.HasSourceGate
import io.eventtide.spark.spi.ClockNode

/** Attaches the clock to a query: a second source that never has a row.
  *
  * Only a source can make Spark run a batch without data. The node exists so that Spark finds that
  * source in the plan. `DetachClock` removes it from the plan of every batch, except in real-time
  * mode, where Spark asks each source of the physical plan for its offset.
  *
  * @param drains
  *   whether the query closes every window after its last row
  * @param backfills
  *   whether the query reads a history in place of its stream
  */
final case class AttachClock(
    data: LogicalPlan,
    clock: LogicalPlan,
    drains: Boolean = false,
    backfills: Boolean = false
) extends BinaryNode
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
    case AttachClock(data, clock, _, _) if !RealTimePlans.isRealTime(clock) =>
      data
  }
}

/** The rows of `data`. The clock is not run: it has no rows. */
final case class AttachClockExec(data: SparkPlan, clock: SparkPlan)
    extends BinaryExecNode
    with HasSourceGate {
  override def left: SparkPlan = data
  override def right: SparkPlan = clock
  override def output: Seq[Attribute] = data.output
  override def outputPartitioning: Partitioning = data.outputPartitioning

  override protected def doExecute(): RDD[InternalRow] = gated(data.execute())

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): AttachClockExec = copy(newLeft, newRight)
}
