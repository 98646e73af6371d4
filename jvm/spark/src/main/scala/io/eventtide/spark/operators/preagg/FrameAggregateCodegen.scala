package io.eventtide.spark.operators.preagg

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{CodegenSupport, UnaryExecNode}

/** Aggregates rows by key and frame before the shuffle and emits one row per key, in generated
  * code.
  *
  * When memory runs out, all collected keys are emitted, and a key may be emitted again later.
  * Nothing is spilled.
  */
private[preagg] trait FrameAggregateCodegen extends UnaryExecNode with CodegenSupport {

  def aggregates: Seq[AggregateExpression]

  protected def updates: FrameAggregation

  // The method for more aggregates would be too long for the JIT compiler.
  override def supportCodegen: Boolean = aggregates.length <= FrameAggregateCodegen.MostInOneMethod

  override lazy val metrics: Map[String, SQLMetric] = otherMetrics +
    ("peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory"))

  protected def otherMetrics: Map[String, SQLMetric] = Map.empty

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    child.asInstanceOf[CodegenSupport].inputRDDs()

  // When memory is full, rows are emitted between input rows, so the input must be stoppable. If
  // the input stops although there is memory and this operator has emitted no row, the input has
  // ended: a union stops only its current branch.
  override def needStopCheck: Boolean = true
  override def limitNotReachedChecks: Seq[String] = Nil

  /** Generates the frame update of a row, for `doConsume`. */
  @transient protected var taking: FrameUpdateCodegen = _

  /** Begins the code of a stage; `frames` is the variable of the `FrameHashMap`. */
  protected def begin(ctx: CodegenContext, frames: String): Unit =
    taking = new FrameUpdateCodegen(ctx, frames, updates)

  override protected def doProduce(ctx: CodegenContext): String = {
    val opener = ctx.addReferenceObj("updates", updates)
    val peakMemory = metricTerm(ctx, "peakMemory")
    val all = ctx.addMutableState(
      classOf[FrameHashMap].getName,
      "frames",
      name => s"$name = $opener.open($peakMemory);",
      forceInline = true
    )
    begin(ctx, all)
    val ended = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "ended")
    val emits = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "gives")
    val take = ctx.freshName("takeRows")
    val takeName = ctx.addNewFunction(
      take,
      s"""private void $take() throws java.io.IOException {
         |  ${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
         |  $ended = !shouldStop();
         |}
       """.stripMargin
    )
    ctx.addNewFunction(
      "shouldStop",
      s"""@Override public boolean shouldStop() {
         |  return !$emits && $all.isFull() || super.shouldStop();
         |}
       """.stripMargin,
      inlineToOuterClass = true
    ): Unit
    val row = ctx.freshName("row")
    s"""while ($emits || !$ended) {
       |  if (!$emits) {
       |    $takeName();
       |    if (super.shouldStop()) return;
       |    ${taking.updateRest}
       |    $emits = true;
       |  }
       |  while ($all.next()) {
       |    UnsafeRow $row = $all.row();
       |    ${consume(ctx, null, row)}
       |    if (shouldStop()) return;
       |  }
       |  $emits = false;
       |}
     """.stripMargin
  }
}

private object FrameAggregateCodegen {
  val MostInOneMethod = 24
}
