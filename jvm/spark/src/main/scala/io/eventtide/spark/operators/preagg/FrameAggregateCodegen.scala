package io.eventtide.spark.operators.preagg

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{CodegenSupport, UnaryExecNode}

/** Aggregates rows by key and frame where they are, and gives a row for each key, in generated code.
  *
  * When memory runs out what there is is given, and a key comes again later: nothing is spilled.
  */
private[preagg] trait FrameAggregateCodegen extends UnaryExecNode with CodegenSupport {

  def aggregates: Seq[AggregateExpression]

  protected def updates: FrameAggregation

  // The code of more would be too long for the JIT compiler.
  override def supportCodegen: Boolean = aggregates.length <= FrameAggregateCodegen.MostInOneMethod

  override lazy val metrics: Map[String, SQLMetric] = otherMetrics +
    ("peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory"))

  protected def otherMetrics: Map[String, SQLMetric] = Map.empty

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    child.asInstanceOf[CodegenSupport].inputRDDs()

  // Rows are given between those that come, when memory is full: so the input has to be stopped. It
  // has ended when it stops though there is memory and no row of its own has gone on, since a union
  // stops no more than its branch.
  override def needStopCheck: Boolean = true
  override def limitNotReachedChecks: Seq[String] = Nil

  /** How a row changes the frames, for `doConsume`. */
  @transient protected var taking: FrameUpdateCodegen = _

  /** Begins the code of a stage, in which the frames are this variable. */
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
    val gives = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "gives")
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
         |  return !$gives && $all.isFull() || super.shouldStop();
         |}
       """.stripMargin,
      inlineToOuterClass = true
    ): Unit
    val row = ctx.freshName("row")
    s"""while ($gives || !$ended) {
       |  if (!$gives) {
       |    $takeName();
       |    if (super.shouldStop()) return;
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
}

private object FrameAggregateCodegen {
  val MostInOneMethod = 24
}
