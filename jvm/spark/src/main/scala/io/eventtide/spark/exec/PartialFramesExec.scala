package io.eventtide.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  DeclarativeAggregate
}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{
  CodegenSupport,
  PartitioningPreservingUnaryExecNode,
  SparkPlan
}

import io.eventtide.spark.state.AggregateCalls

/** Aggregates rows by key and frame where they are, and gives one row a key with all its frames.
  *
  * Spark's own gives a row for each frame of a key. These have to be sent, sorted and put together
  * again, which of many keys with few rows each is most of the work.
  *
  * When memory runs out what there is is given, and a key comes again later: nothing is spilled.
  *
  * @param keys
  *   by which rows are aggregated
  * @param frame
  *   the number of a row's frame; never null
  * @param frames
  *   the column in which a key's frames are, as `PackedFrames`
  */
final case class PartialFramesExec(
    keys: Seq[NamedExpression],
    frame: Expression,
    aggregates: Seq[AggregateExpression],
    frames: Attribute,
    child: SparkPlan
) extends PartitioningPreservingUnaryExecNode
    with CodegenSupport {
  override def output: Seq[Attribute] = outputExpressions.map(_.toAttribute)
  override protected def outputExpressions: Seq[NamedExpression] = keys :+ frames
  override def producedAttributes: AttributeSet = AttributeSet(frames)

  override lazy val metrics: Map[String, SQLMetric] =
    Map("peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory"))

  private lazy val updates = FrameUpdates.of(keys, frame, aggregates, child.output)

  override protected def doExecute(): RDD[InternalRow] = {
    val (update, peakMemory) = (updates, longMetric("peakMemory"))
    child.execute().mapPartitions { rows =>
      new PartialFrameRows(rows, update, update.open(peakMemory))
    }
  }

  // The code of more would be too long for the JIT compiler.
  override def supportCodegen: Boolean = aggregates.length <= PartialFramesExec.MostInOneMethod

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    child.asInstanceOf[CodegenSupport].inputRDDs()

  // Rows are given between those that come, when memory is full: so the input has to be stopped. It
  // has ended when it stops though there is memory, since a union stops no more than its branch.
  override def needStopCheck: Boolean = true
  override def limitNotReachedChecks: Seq[String] = Nil
  override def needCopyResult: Boolean = false

  @transient private var taking: TakingCode = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val opener = ctx.addReferenceObj("updates", updates)
    val peakMemory = metricTerm(ctx, "peakMemory")
    val all = ctx.addMutableState(
      classOf[PartialFrames].getName,
      "frames",
      name => s"$name = $opener.open($peakMemory);",
      forceInline = true
    )
    taking = new TakingCode(ctx, all, updates)
    val ended = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "ended")
    val gives = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "gives")
    val take = ctx.freshName("takeRows")
    val takeName = ctx.addNewFunction(
      take,
      s"""private void $take() throws java.io.IOException {
         |  ${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
         |  $ended = !$all.isFull();
         |}
       """.stripMargin
    )
    ctx.addNewFunction(
      "shouldStop",
      s"""@Override public boolean shouldStop() {
         |  return !$gives && $all.isFull() || super.shouldStop();
         |}
       """.stripMargin,
      inlineToOuterClass = true
    ): Unit
    val row = ctx.freshName("row")
    s"""while ($gives || !$ended) {
       |  if (!$gives) {
       |    $takeName();
       |    ${taking.takeRest}
       |    $gives = true;
       |  }
       |  while ($all.next()) {
       |    UnsafeRow $row = $all.row();
       |    ${consume(ctx, null, row)}
       |    if (shouldStop()) return;
       |  }
       |  $gives = false;
       |}
     """.stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    taking.take(input)

  override protected def withNewChildInternal(newChild: SparkPlan): PartialFramesExec =
    copy(child = newChild)
}

private[spark] object PartialFramesExec {
  private val MostInOneMethod = 24

  /** Whether it can aggregate these: their buffers lie side by side, and so do equal keys' bytes. */
  def supports(keys: Seq[NamedExpression], aggregates: Seq[AggregateExpression]): Boolean = {
    val functions = aggregates.map(_.aggregateFunction)
    functions.forall(_.isInstanceOf[DeclarativeAggregate]) &&
    AggregateCalls.areFixed(functions) &&
    keys.forall(key => UnsafeRowUtils.isBinaryStable(key.dataType))
  }
}
