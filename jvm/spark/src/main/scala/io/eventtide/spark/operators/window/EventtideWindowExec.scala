package io.eventtide.spark.operators.window

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.{
  AllTuples,
  Distribution,
  Partitioning,
  UnspecifiedDistribution
}
import org.apache.spark.sql.eventtide.TimedRows
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  StateStoreWriter,
  StatefulOperatorCustomMetric,
  StatefulOperatorPartitioning,
  StatefulOperatorStateInfo
}
import org.apache.spark.sql.execution.streaming.state.{
  StateSchemaCompatibilityChecker,
  StateSchemaValidationResult,
  StateStore
}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streaming.StateOperatorProgress

import io.eventtide.spark.operators.{
  Preaggregation,
  SubqueryValues,
  WindowBatchContext,
  WindowOperatorSpec
}
import io.eventtide.spark.spi.{NextTimer, PartitionAccum, TaskInputState}
import io.eventtide.spark.state.WindowStateStoreRDD

/** Assigns the rows of each key to windows, and emits the results of windows.
  *
  * The child's rows are sorted so that the rows of a key are adjacent; `input` determines how far
  * they are aggregated. One key at a time is in memory.
  *
  * @param input
  *   how input rows arrive
  * @param batch
  *   the batch for which it is planned; None in a plan that does not run as a streaming batch
  * @param queries
  *   the subqueries of the plan, which Spark runs before this operator
  */
final case class EventtideWindowExec(
    @transient spec: WindowOperatorSpec,
    @transient batch: Option[WindowBatchContext],
    input: Preaggregation,
    queries: Seq[Expression],
    child: SparkPlan
) extends UnaryExecNode
    with StateStoreWriter {
  // A val, since Spark's operators for Python functions read it in the tasks.
  override val output: Seq[Attribute] = spec.output

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override def shortName: String = "eventtideWindow"

  override protected def stringArgs: Iterator[Any] = Iterator(spec.summary)

  // If all rows go to one partition, the state has one too, regardless of the session's setting.
  override val stateInfo: Option[StatefulOperatorStateInfo] = {
    val info = batch.fold(
      StatefulOperatorStateInfo("<unknown>", new UUID(0, 0), 0, 0, conf.numShufflePartitions)
    )(_.stateInfo)
    Some(if (spec.together.isEmpty) info.copy(numPartitions = 1) else info)
  }

  override def requiredChildDistribution: Seq[Distribution] =
    if (input == Preaggregation.MarkedRows) UnspecifiedDistribution :: Nil // shuffled below
    else if (spec.together.isEmpty) AllTuples :: Nil
    else
      StatefulOperatorPartitioning
        .getCompatibleDistribution(spec.together, getStateInfo, conf) :: Nil

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq(if (arrivalSort.isDefined) Nil else spec.orderOf(input))

  @transient private lazy val arrivalSort = spec.arrivalSort(input)

  override def outputPartitioning: Partitioning = child.outputPartitioning

  private val families = spec.families

  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int
  ): List[StateSchemaValidationResult] = {
    val sessionState = session.sessionState
    val checked = StateSchemaCompatibilityChecker.validateAndMaybeEvolveStateSchema(
      getStateInfo,
      hadoopConf,
      List(families.schema),
      sessionState,
      stateSchemaVersion
    )
    List(checked)
  }

  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = {
    val results = spec.settings.windows.resultsFrom(inputWatermarkMs * 1000)
    Some(math.max(0, Math.floorDiv(results, 1000L)))
  }

  @transient private lazy val due = registered[NextTimer]

  // It is unnamed: Spark retains updates of named accumulators.
  private def registered[T]: PartitionAccum[T] = {
    val accumulator = new PartitionAccum[T]
    sparkContext.register(accumulator)
    accumulator
  }

  // An advance of the watermark that closes only empty windows needs no batch, unless the profile
  // makes the next rows late because of it.
  override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean = {
    val watermark = WindowBatchContext.known(newInputWatermark)
    def isStep(in: WindowBatchContext) = watermark.exists(w => in.closingMicros.forall(_ < w))
    due.value.values.exists(_.isClosed(watermark, spec.settings)) ||
    batch.exists(running => running.batchOnEveryAdvance && isStep(running))
  }

  override def customStatefulOperatorMetrics: Seq[StatefulOperatorCustomMetric] =
    WindowProgress.metrics

  // The driver decides which task reports count; a sum would count a retried stage twice.
  override def getProgress(): StateOperatorProgress = {
    batch.foreach { running =>
      val counted = WindowProgress(running.lateLog.reports.value.values, due.value.values)
      counted.values.foreach { case (name, value) => longMetric(name).set(value) }
    }
    super.getProgress()
  }

  @transient private lazy val bounds = registered[Array[Long]]

  // Only if the query's policies run in the tasks.
  @transient private lazy val inputs =
    batch.flatMap(_.watermarkStart).map(_ => registered[TaskInputState])

  override protected def doExecute(): RDD[InternalRow] = {
    metrics
    val running = batch.getOrElse(throw new IllegalStateException("no batch of a streaming query"))
    running.register(due, bounds)
    inputs.foreach(running.register)
    val task = WindowTaskSpec(
      spec.withValues(SubqueryValues.of(queries)),
      running.batchId,
      running.time,
      input,
      Option.when(spec.settings.hasOwnTime && input == Preaggregation.OnTimeRows)(running.bounds),
      running.lagging,
      getStateInfo.numPartitions
    )
    val taskMetrics = metricsOfTask
    val start = running.watermarkStart
    val markers = child.output.length - 1
    val sorted = arrivalSort.fold(child.execute())(_(child.execute()))
    new WindowStateStoreRDD(
      sorted,
      families,
      getStateInfo,
      running.stateRoot,
      running.hadoopConf,
      session
    )((store, rows) =>
      if (task.isRealTime) {
        val timed = new TimedRows(rows).start()
        RealTimeWindowIterator(task, store, timed, taskMetrics, start, markers)
      } else new StreamingWindowIterator(task, store, rows, taskMetrics)
    )
  }

  private def metricsOfTask = new WindowMetrics(
    longMetric("numOutputRows"),
    longMetric("numUpdatedStateRows"),
    longMetric("numRemovedStateRows"),
    longMetric("commitTimeMs"),
    due,
    bounds,
    inputs,
    report
  )

  // A store that counts its rows also counts the index rows; a store that does not reports -1.
  private def report(store: StateStore, keys: Long): Unit = {
    val rows = longMetric("numTotalStateRows")
    val before = rows.value
    setStoreMetrics(store)
    rows.set(before + keys)
    setOperatorMetrics()
  }

  override protected def withNewChildInternal(newChild: SparkPlan): EventtideWindowExec =
    copy(child = newChild)
}
