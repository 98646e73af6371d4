package io.eventtide.spark.operators.preagg

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Count, Max, Min}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{BinaryType, StructField, StructType}

import io.eventtide.spark.operators.{KeyBucket, WindowOperatorSpec}

/** Aggregates the rows that are certainly on time, by key and frame; other rows pass through
  * unchanged.
  *
  * An aggregated row has a key with all its frames, packed by `PackedFramesWriter`, and no other
  * column. Each frame's buffers are followed by the lowest and highest event time of its rows and
  * by their number. These advance the key's watermark.
  *
  * @param keys
  *   the first columns of a row
  * @param time
  *   the next column, in microseconds
  * @param frame
  *   the number of a row's frame
  * @param frames
  *   the column of the packed frames; null in a row that passes through
  * @param onTimeFilterOf
  *   the filter for rows that are certainly on time, by their columns; called when the batch is
  *   executed
  */
final case class MapSideFrameAggregateExec(
    keys: Seq[Attribute],
    time: Attribute,
    frame: Expression,
    aggregates: Seq[AggregateExpression],
    frames: Attribute,
    @transient onTimeFilterOf: Seq[Attribute] => OnTimeRowFilter,
    child: SparkPlan
) extends FrameAggregateCodegen {
  override def output: Seq[Attribute] = {
    val (before, others) = child.output.splitAt(keys.length)
    before ++ others.map(_.withNullability(true)) :+ frames
  }

  override def producedAttributes: AttributeSet = AttributeSet(frames)
  override protected def stringArgs: Iterator[Any] = Iterator(keys, aggregates, "rows on time")
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override protected def otherMetrics: Map[String, SQLMetric] =
    Map(
      "numPreAggregatedRows" -> SQLMetrics.createMetric(sparkContext, "number of rows aggregated")
    )

  protected lazy val updates: FrameAggregation = {
    val others = child.output.drop(keys.length).map { column =>
      StructField(column.name, column.dataType)
    }
    FrameAggregation.of(keys, frame, aggregates ++ times, child.output, StructType(others))
  }

  private def times: Seq[AggregateExpression] =
    Seq(Min(time), Max(time), Count(Literal(1))).map(_.toAggregateExpression())

  override protected def doExecute(): RDD[InternalRow] = {
    val (update, onTimeRows) = (updates, onTimeFilterOf(child.output))
    val (memory, preAggregated) = (longMetric("peakMemory"), longMetric("numPreAggregatedRows"))
    child.execute().mapPartitions { rows =>
      new OnTimeFrameIterator(rows, onTimeRows, update, update.open(memory), preAggregated)
    }
  }

  // All other columns are evaluated only in the branch for rows that pass through.
  override def usedInputs: AttributeSet =
    AttributeSet(keys :+ time) ++ AttributeSet(aggregates.flatMap(_.references))

  @transient private var found: String = _ // the variable of the filter task
  @transient private var place: KeyBucket = _

  override protected def begin(ctx: CodegenContext, frames: String): Unit = {
    super.begin(ctx, frames)
    val rows = onTimeFilterOf(child.output)
    place = rows.place
    val opener = ctx.addReferenceObj("onTimeFilter", rows)
    found = ctx.addMutableState(
      classOf[OnTimeRowFilterTask].getName,
      "onTimeFilterTask",
      name => s"$name = $opener.open($frames, ${metricTerm(ctx, "numPreAggregatedRows")});",
      forceInline = true
    )
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val ExprCode(_, isMissing, micros) = input(keys.length)
    ctx.currentVars = input
    ctx.INPUT_ROW = null
    val (partition, hash) = (place.partition.genCode(ctx), place.hash.genCode(ctx))
    val isOnTime = ctx.freshName("isSure")
    val taken = taking.take(input)
    val ownInput = input.map(_.copy())
    val others = evaluateRequiredVariables(child.output, ownInput, child.outputSet)
    s"""boolean $isOnTime = false;
       |if (!$isMissing) {
       |  ${partition.code}
       |  ${hash.code}
       |  $isOnTime = $found.accepts($micros, ${partition.value}, ${hash.value});
       |}
       |if ($isOnTime) {
       |  $taken
       |} else {
       |  $others
       |  ${consume(ctx, ownInput :+ ExprCode.forNullValue(BinaryType))}
       |}
     """.stripMargin
  }

  override protected def withNewChildInternal(newChild: SparkPlan): MapSideFrameAggregateExec =
    copy(child = newChild)
}

private[spark] object MapSideFrameAggregateExec {

  /** The number of extra columns after the buffers of each frame. */
  private[operators] val FrameTimeColumns = 3

  /** Whether rows of a window can be aggregated before the shuffle. */
  def supports(spec: WindowOperatorSpec, aggregates: Seq[AggregateExpression]): Boolean =
    spec.settings.isTimeWindow && spec.rows.exists(_.order.isEmpty) &&
      PartialFrameAggregateExec.supports(spec.keys, aggregates)
}
