package io.eventtide.spark.operators.window

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.{
  AllTuples,
  ClusteredDistribution,
  Distribution,
  Partitioning
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import io.eventtide.spark.operators.{Preaggregation, SubqueryValues, WindowOperatorSpec}

/** As `EventtideWindowExec`, for a batch query: every window emits its row, and there is no state.
  *
  * @param input
  *   how input rows arrive
  * @param queries
  *   the subqueries of the plan, which Spark runs before this operator
  */
final case class BatchEventtideWindowExec(
    spec: WindowOperatorSpec,
    input: Preaggregation,
    queries: Seq[Expression],
    child: SparkPlan
) extends UnaryExecNode {
  override def output: Seq[Attribute] = spec.output

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override def nodeName: String = "EventtideWindow"

  override protected def stringArgs: Iterator[Any] = Iterator(spec.summary)

  override def requiredChildDistribution: Seq[Distribution] =
    if (spec.keys.isEmpty) AllTuples :: Nil else ClusteredDistribution(spec.keys) :: Nil

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq(spec.orderOf(input))

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val window = spec.withValues(SubqueryValues.of(queries))
    val (outputRows, preaggregation) = (longMetric("numOutputRows"), input)
    child.execute().mapPartitions { rows =>
      new BatchWindowIterator(window, rows, preaggregation, outputRows)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): BatchEventtideWindowExec =
    copy(child = newChild)
}
