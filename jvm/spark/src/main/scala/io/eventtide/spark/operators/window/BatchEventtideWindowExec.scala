package io.eventtide.spark.operators.window

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  SortOrder,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.{
  AllTuples,
  ClusteredDistribution,
  Distribution,
  Partitioning
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import io.eventtide.kernel.window.BlockStore
import io.eventtide.spark.operators.preagg.{FrameReader, KeyedFrameReader}
import io.eventtide.spark.operators.{
  BatchTime,
  LookaheadIterator,
  ResultProjection,
  SubqueryValues,
  WindowOperatorSpec
}

/** As `EventtideWindowExec`, for a batch query: every window emits its row, and there is no state.
  *
  * @param queries
  *   the subqueries of the plan, which Spark runs before this operator
  */
final case class BatchEventtideWindowExec(
    plan: WindowOperatorSpec,
    queries: Seq[Expression],
    child: SparkPlan
) extends UnaryExecNode {
  override def output: Seq[Attribute] = plan.output

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override def nodeName: String = "EventtideWindow"

  override protected def stringArgs: Iterator[Any] = Iterator(plan.summary)

  override def requiredChildDistribution: Seq[Distribution] =
    if (plan.keys.isEmpty) AllTuples :: Nil else ClusteredDistribution(plan.keys) :: Nil

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq(if (plan.rows.isDefined) plan.keyOrder else plan.order)

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val window = plan.withValues(SubqueryValues.of(queries))
    val outputRows = longMetric("numOutputRows")
    child.execute().mapPartitions { rows =>
      if (window.rows.isDefined) new BatchKeyRows(window, rows, outputRows)
      else new BatchWindowRows(window, rows, outputRows)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): BatchEventtideWindowExec =
    copy(child = newChild)
}

/** Processes one partition, one key at a time.
  *
  * The rows of a key are sorted by frame, so a window is emitted before the first row after its end
  * is added. Memory holds no more of a key than its open windows.
  */
private[window] final class BatchWindowRows(
    plan: WindowOperatorSpec,
    input: Iterator[InternalRow],
    outputRows: SQLMetric
) extends LookaheadIterator[InternalRow] {
  private val calls = plan.newCalls
  private val rows =
    KeyedFrameReader(
      input,
      plan.keys,
      new FrameReader.SingleFrame(plan.keys.length, calls.attributes)
    )
  private val buffers = plan.newBuffers(calls)
  private val ring = plan.newRing(buffers, BlockStore.None, blockSize = Int.MaxValue)
  private val results = new ResultProjection(plan)
  private var key: UnsafeRow = _ // the key whose windows are being emitted; null between keys

  protected def current: InternalRow = {
    outputRows += 1
    val values = calls.evaluate(buffers.row(ring.result))
    if (plan.result.pane.isEmpty) results.row(key, ring.end, values)
    else results.row(key, ring.end, results.withPane(values, PanedWindowOperator.TheOnlyPane))
  }

  protected def advance(): Boolean = {
    var found = false
    while (!found && (key != null || rows.hasNext)) {
      if (key == null) openKey()
      val more = rows.isSameKey
      found = ring.next(if (more) rows.frame else Long.MaxValue)
      if (!found) { if (more) takeRow() else key = null }
    }
    found
  }

  private def openKey(): Unit = {
    key = rows.nextKey()
    buffers.reset()
    ring.begin(Long.MinValue)
  }

  private def takeRow(): Unit = {
    ring.add(rows.frame, buffers.input(rows.buffer)): Unit
    rows.advance()
  }
}

/** As `BatchWindowRows`, for unaggregated rows: all rows of a key are added, then its windows are
  * emitted.
  */
private[window] final class BatchKeyRows(
    plan: WindowOperatorSpec,
    input: Iterator[InternalRow],
    outputRows: SQLMetric
) extends LookaheadIterator[InternalRow] {
  private val calls = plan.newCalls
  private val rows = KeyedFrameReader.rawRows(input, plan.keys)
  private val buffers = plan.newBuffers(calls)
  private val windows: KeyedWindowOperator = plan.settings.storm match {
    case Some(storm) => RetainedRowWindowOperator.inMemory(plan, storm, calls, buffers)
    case None => new RowAtATimeWindowOperator(plan, BatchTime.EndOfInput, calls, buffers)
  }
  private var key: UnsafeRow = _ // the key whose windows are being emitted; null before the first

  protected def current: InternalRow = {
    outputRows += 1
    windows.row(key)
  }

  protected def advance(): Boolean = {
    var found = key != null && windows.next()
    while (!found && rows.hasNext) {
      WindowTaskIterator.namingKey(plan, key)(takeKey())
      found = windows.next()
    }
    found
  }

  private def takeKey(): Unit = {
    key = rows.nextKey()
    buffers.reset()
    windows.begin()
    while (rows.isSameKey) {
      windows.add(rows)
      rows.advance()
    }
    windows.close()
  }
}
