package io.eventtide.spark.operators.late

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodegenContext,
  ExprCode,
  GenerateUnsafeProjection
}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  BindReferences,
  Expression
}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan, UnaryExecNode}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.operators.WindowBatchContext
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.state.Projections

/** Removes the rows that are not on time from the stream, before they are aggregated.
  *
  * @param batch
  *   the batch for which it is planned; None in a plan that does not run as a streaming batch
  */
final case class LateRowFilterExec(
    limits: LateRowFilterSpec,
    @transient batch: Option[WindowBatchContext],
    child: SparkPlan
) extends UnaryExecNode
    with CodegenSupport {
  override def output: Seq[Attribute] = child.output

  override protected def stringArgs: Iterator[Any] =
    Iterator(limits.eventTime, limits.settings.late.mode.summary)
  override def outputPartitioning: Partitioning = child.outputPartitioning

  private lazy val ordinal = child.output.indexWhere(_.exprId == limits.eventTime.exprId)
  private lazy val logged = BindReferences.bindReferences(limits.logged, child.output)

  private def judge: LateRowBounds = LateRowBounds(batch, limits)

  override protected def doExecute(): RDD[InternalRow] = {
    val (late, time, columns) = (judge, ordinal, logged)
    child.execute().mapPartitionsWithIndex { (partition, rows) =>
      val found = late.open(partition)
      val toLog = Projections.unsafe(columns)
      rows.filter { row =>
        val missing = row.isNullAt(time)
        val micros = if (missing) 0 else row.getLong(time)
        val onTime = !missing && micros >= found.earliest && micros <= found.latest
        if (onTime) found.pass(micros) else found.add(toLog(row), missing, micros)
        onTime
      }
    }
  }

  override def usedInputs: AttributeSet = AttributeSet(limits.eventTime)

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    child.asInstanceOf[CodegenSupport].inputRDDs()

  override protected def doProduce(ctx: CodegenContext): String =
    child.asInstanceOf[CodegenSupport].produce(ctx, this)

  // A union calls doConsume once per branch, in one generated class: the branches share one log.
  @transient private var opened: Option[(CodegenContext, String)] = None

  private def openedIn(ctx: CodegenContext): String =
    opened.collect { case (same, variable) if same eq ctx => variable }.getOrElse {
      val late = ctx.addReferenceObj("late", judge)
      val variable = ctx.addMutableState(
        classOf[LateRowJudge].getName,
        "onTime",
        name => s"$name = $late.open(partitionIndex);",
        forceInline = true
      )
      opened = Some(ctx -> variable)
      variable
    }

  // The columns of a late row are evaluated only in the branch for late rows.
  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val onTime = openedIn(ctx)
    val ExprCode(code, isMissing, micros) = input(ordinal)
    val ownInput = input.map(_.copy())
    val used = AttributeSet(limits.logged.flatMap(_.references))
    val columns = evaluateRequiredVariables(child.output, ownInput, used)
    ctx.INPUT_ROW = null
    ctx.currentVars = ownInput
    val late = GenerateUnsafeProjection.createCode(ctx, logged)
    s"""do {
       |  $code
       |  if ($isMissing || $micros < $onTime.earliest() || $micros > $onTime.latest()) {
       |    $columns
       |    ${late.code}
       |    $onTime.add(${late.value}, $isMissing, $micros);
       |    continue;
       |  }
       |  $onTime.pass($micros);
       |  ${consume(ctx, input)}
       |} while (false);
     """.stripMargin
  }

  override protected def withNewChildInternal(newChild: SparkPlan): LateRowFilterExec =
    copy(child = newChild)
}

/** The limits within which a row is on time.
  *
  * @param logged
  *   the logged part of a late row: its columns, and the names of its substream and its key
  * @param guard
  *   the limit above which a future row is late
  */
final case class LateRowFilterSpec(
    eventTime: Attribute,
    logged: Seq[Expression],
    guard: Option[FutureGuard],
    settings: WindowSettings
)
