package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Attribute,
  BindReferences,
  Expression,
  JoinedRow,
  NamedExpression,
  ScalarSubquery,
  SortOrder,
  SpecificInternalRow,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.types.LongType

import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.{BlockStore, FrameWindowState, PerKeyWatermark}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.state.{AggregateFunctions, BufferPool, WindowStateLayout}

/** A window as its operators need to know it; sent to the executors.
  *
  * The rows that they read come from partial aggregation: the keys, then a frame and its buffers, or
  * all frames of the key as `PackedFrames`.
  *
  * @param counts
  *   what `Inverse` says of functions that can deduct; empty for others
  * @param rowsOrdinal
  *   where among the buffers the number of rows is, if it is needed; else -1
  * @param condition
  *   which results are given early, over those of the functions
  * @param result
  *   how a result becomes a row
  * @param rows
  *   the rows, where they are judged by their keys and not all have been aggregated
  */
private[spark] final case class WindowOperatorSpec(
    keys: Seq[Attribute],
    frame: Attribute,
    functions: Seq[AggregateFunction],
    counts: Seq[Int],
    rowsOrdinal: Int,
    condition: Option[Expression],
    result: ResultLayout,
    settings: WindowSettings,
    rows: Option[RowInputSpec] = None
) {
  def output: Seq[Attribute] = result.columns.map(_.toAttribute)

  /** The subqueries beside the aggregates, whose values are those of the batch. */
  def subqueries: Seq[Expression] = (condition ++ result.columns).toSeq.flatMap(_.collect {
    case query: ScalarSubquery => query
  })

  /** The same with these in place of the subqueries, in their order. */
  def withValues(values: Seq[Expression]): WindowOperatorSpec = {
    val remaining = values.iterator
    def valued[E <: Expression](value: E): E =
      value.transformDown { case _: ScalarSubquery => remaining.next() }.asInstanceOf[E]
    if (values.isEmpty) this
    else {
      val ofCondition = condition.map(valued)
      copy(condition = ofCondition, result = result.copy(columns = result.columns.map(valued)))
    }
  }

  /** The order in which the rows of a key come together, its frames one after the other. */
  def order: Seq[SortOrder] = (keys :+ frame).map(SortOrder(_, Ascending))

  /** An order in which rows of a key come near each other, for `KeyGroupingIterator` to see to the rest. */
  def orderOfKeys: Seq[SortOrder] = {
    val byKey = if (keys.isEmpty) Nil else Seq(SortOrder(KeySortPrefix(keys), Ascending))
    groups.getOrElse(Nil).map(SortOrder(_, Ascending)) ++ byKey ++
      rows.flatMap(_.order).map(SortOrder(_, Ascending))
  }

  private def groups: Option[Seq[Attribute]] = rows.flatMap(_.groups)

  /** By what rows have to come to one partition; nothing where all have to. */
  def together: Seq[Attribute] = groups.getOrElse(keys)

  /** In which families its state is. */
  def families: WindowStateLayout = WindowStateLayout.of(keys, groups)

  /** A watermark by a policy, in a batch. */
  private[operators] def timeBy(policy: PolicySpec, batch: BatchTime): PerKeyWatermark = {
    val latest = rows.flatMap(_.clamp).fold(Long.MaxValue)(_.limit(batch.timestamp))
    new PerKeyWatermark(policy.forClockAhead(batch.ahead), batch.isCredited, latest)
  }

  def newCalls: AggregateFunctions = new AggregateFunctions(functions, counts, rows.map(_.columns))

  def newBuffers(calls: AggregateFunctions): BufferPool =
    BufferPool(calls, AggregateFunctions.areFixed(functions))

  /** An empty ring over such buffers. */
  def newRing(buffers: BufferPool, archive: BlockStore, blockSize: Int): FrameWindowState =
    FrameWindowState(settings.spec.shape, buffers, counts.nonEmpty, archive, blockSize)

  /** How many frames a ring keeps together, in a batch that closes so many.
    *
    * What a result reads and writes is least when a ring has as many frames as there are blocks. But
    * to write a block, read it and remove it costs as much as to write some dozens of frames once
    * more. So it has to spare its frames that in as many batches as make up for it, and they are few
    * when a batch closes many. Without blocks a ring has all frames that a window can have.
    */
  def blockSize(closes: Long): Int = {
    val frames = settings.spec.shape.frames
    val size = math.max(8, math.sqrt(frames.toDouble).toInt)
    val spared = size.toLong * (frames - 2 * size)
    if (spared / WindowOperatorSpec.FramesForBlock >= math.max(1L, closes)) size
    else math.max(WindowOperatorSpec.LeastFrames, frames + 1)
  }
}

private[spark] object WindowOperatorSpec {
  private val FramesForBlock = 64 // as measured
  private val LeastFrames = 24
}

/** How a result becomes a row.
  *
  * @param bounds
  *   start and end of the window, in the order in which they are given
  * @param aggregates
  *   the results of the functions
  * @param pane
  *   index, timing and whether it is the last; none where windows give one row each
  * @param columns
  *   the output, over the keys and these
  * @param key
  *   what is shown of the key where rows are handed out, over the keys
  */
private[spark] final case class ResultLayout(
    bounds: Seq[Attribute],
    aggregates: Seq[Attribute],
    pane: Seq[Attribute],
    columns: Seq[NamedExpression],
    key: Seq[Expression] = Nil
)

/** Makes the rows of results; one instance a task. */
private[operators] final class ResultProjection(plan: WindowOperatorSpec) {
  private lazy val spec = plan.settings.spec
  private val hasStart = plan.settings.storm.forall(_.hasStart)
  private val bounds = new SpecificInternalRow(Seq(LongType, LongType)) // which boxes nothing
  private val keyAndBounds = new JoinedRow
  private val values = new JoinedRow
  private val all = new JoinedRow

  private val columns = {
    val ResultLayout(bounds, aggregates, pane, columns, _) = plan.result
    UnsafeProjection.create(
      BindReferences.bindReferences(columns, plan.keys ++ bounds ++ aggregates ++ pane)
    )
  }

  /** The row of the window that ends at a boundary, good until the next one. */
  def row(key: UnsafeRow, end: Long, results: InternalRow): UnsafeRow =
    row(key, spec.grid.start(spec.shape.start(end)), spec.grid.start(end), results)

  /** The row of a window, good until the next one. */
  def row(key: UnsafeRow, start: Long, end: Long, results: InternalRow): UnsafeRow = {
    if (hasStart) bounds.setLong(0, start) else bounds.setNullAt(0)
    bounds.setLong(1, end)
    columns(all(keyAndBounds(key, bounds), results))
  }

  /** Results and what the pane is, as one, for `row`. */
  def withPane(results: InternalRow, pane: InternalRow): InternalRow = values(results, pane)
}
