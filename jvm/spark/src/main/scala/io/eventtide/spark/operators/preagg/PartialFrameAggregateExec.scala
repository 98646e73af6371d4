package io.eventtide.spark.operators.preagg

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  DeclarativeAggregate
}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.{PartitioningPreservingUnaryExecNode, SparkPlan}

import io.eventtide.spark.state.AggregateFunctions

/** Aggregates rows by key and frame before the shuffle, and emits one row per key with all its
  * frames.
  *
  * Spark's partial aggregation emits a row for each frame of a key. These rows must then be sent,
  * sorted and merged. If there are many keys with few rows each, this is most of the work.
  *
  * @param keys
  *   the grouping keys
  * @param frame
  *   the number of a row's frame; never null
  * @param frames
  *   the column of a key's frames, packed by `PackedFramesWriter`
  */
final case class PartialFrameAggregateExec(
    keys: Seq[NamedExpression],
    frame: Expression,
    aggregates: Seq[AggregateExpression],
    frames: Attribute,
    child: SparkPlan
) extends PartitioningPreservingUnaryExecNode
    with FrameAggregateCodegen {
  override def output: Seq[Attribute] = outputExpressions.map(_.toAttribute)
  override protected def outputExpressions: Seq[NamedExpression] = keys :+ frames
  override def producedAttributes: AttributeSet = AttributeSet(frames)
  override protected def stringArgs: Iterator[Any] = Iterator(keys, aggregates)

  protected lazy val updates: FrameAggregation =
    FrameAggregation.of(keys, frame, aggregates, child.output)

  override protected def doExecute(): RDD[InternalRow] = {
    val (update, peakMemory) = (updates, longMetric("peakMemory"))
    child.execute().mapPartitions { rows =>
      new PartialFrameIterator(rows, update, update.open(peakMemory))
    }
  }

  override def needCopyResult: Boolean = false

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    taking.take(input)

  override protected def withNewChildInternal(newChild: SparkPlan): PartialFrameAggregateExec =
    copy(child = newChild)
}

private[spark] object PartialFrameAggregateExec {

  /** Whether this operator supports the keys and aggregates: aggregates must be declarative with
    * buffers of fixed length, and equal keys must have equal bytes.
    */
  def supports(keys: Seq[NamedExpression], aggregates: Seq[AggregateExpression]): Boolean = {
    val functions = aggregates.map(_.aggregateFunction)
    functions.forall(_.isInstanceOf[DeclarativeAggregate]) &&
    AggregateFunctions.areFixed(functions) &&
    keys.forall(key => UnsafeRowUtils.isBinaryStable(key.dataType))
  }
}
