package io.eventtide.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan, UnaryExecNode}

import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.query.WindowBatch

/** Takes late rows out of the stream, before they are aggregated.
  *
  * @param batch
  *   the batch it is planned for; None in a plan that will not run as a streaming batch
  */
final case class LateRowsExec(
    eventTime: Attribute,
    settings: WindowSettings,
    @transient batch: Option[WindowBatch],
    child: SparkPlan
) extends UnaryExecNode
    with CodegenSupport {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numLateRows" -> SQLMetrics.createMetric(sparkContext, "number of late rows"))

  private def watch: LateWatch = {
    val below = batch.flatMap(_.lateMicros).fold(Long.MinValue) { watermark =>
      settings.closing.lateBelow(watermark, settings.grid, settings.shape)
    }
    new LateWatch(below, longMetric("numLateRows"))
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val late = watch
    val ordinal = child.output.indexWhere(_.exprId == eventTime.exprId)
    child.execute().mapPartitions { rows =>
      rows.filter { row =>
        val isLate = row.isNullAt(ordinal) || row.getLong(ordinal) < late.below
        if (isLate) late.add()
        !isLate
      }
    }
  }

  override def usedInputs: AttributeSet = AttributeSet(eventTime)

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    child.asInstanceOf[CodegenSupport].inputRDDs()

  override protected def doProduce(ctx: CodegenContext): String =
    child.asInstanceOf[CodegenSupport].produce(ctx, this)

  // The limit is an object's field, not a literal, so that the code is the same in every batch.
  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val late = ctx.addReferenceObj("late", watch)
    val time = input(child.output.indexWhere(_.exprId == eventTime.exprId))
    s"""do {
       |  ${time.code}
       |  if (${time.isNull} || ${time.value} < $late.below()) {
       |    $late.add();
       |    continue;
       |  }
       |  ${consume(ctx, input)}
       |} while (false);
     """.stripMargin
  }

  override protected def withNewChildInternal(newChild: SparkPlan): LateRowsExec =
    copy(child = newChild)
}

/** What tasks know about late rows. */
final class LateWatch(val below: Long, rows: SQLMetric) extends Serializable {
  def add(): Unit = rows.add(1)
}
