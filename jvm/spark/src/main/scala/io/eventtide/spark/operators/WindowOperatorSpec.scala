package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Attribute,
  Expression,
  JoinedRow,
  NamedExpression,
  ScalarSubquery,
  SortOrder,
  SpecificInternalRow,
  UnsafeRow
}
import org.apache.spark.sql.types.LongType

import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.{BlockStore, FrameCombining, FrameWindowState, PerKeyWatermark}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.state.{
  AggregateFunctions,
  BufferLayout,
  BufferPart,
  BufferPool,
  Projections,
  WindowStateLayout
}

/** The specification of a window for its operators; sent to the executors.
  *
  * Input rows have the keys, followed by one of three contents: a frame and its buffers, all frames
  * of the key as `PackedFramesWriter`, or the columns of a row that is not aggregated. See
  * `Preaggregation`.
  *
  * @param counts
  *   the `counts` of `Inverse` for functions that can deduct; empty for others
  * @param condition
  *   the condition of a trigger, over the results of the functions
  * @param result
  *   the layout of output rows
  * @param names
  *   the names of each function, see `BufferPart`
  * @param rows
  *   the input rows, if lateness depends on their keys and not all rows are aggregated upstream
  * @param readsDeducted
  *   whether saved keys were written by a query that deducts, and this query does not
  */
private[spark] final case class WindowOperatorSpec(
    keys: Seq[Attribute],
    frame: Attribute,
    functions: Seq[AggregateFunction],
    counts: Seq[Int],
    condition: Option[Expression],
    result: ResultLayout,
    settings: WindowSettings,
    names: Seq[Seq[String]],
    rows: Option[RowInputSpec] = None,
    readsDeducted: Boolean = false
) {
  def output: Seq[Attribute] = result.columns.map(_.toAttribute)

  /** A summary for query plans, such as `sliding(1m, every=5s), late log, by device`. */
  def summary: String =
    settings.summary + (if (keys.isEmpty) "" else s", by ${keys.map(_.name).mkString(", ")}")

  /** The subqueries outside the aggregates; their values are computed for the batch. */
  def subqueries: Seq[Expression] = (condition ++ result.columns).toSeq.flatMap(_.collect {
    case query: ScalarSubquery => query
  })

  /** A copy with these values in place of the subqueries, in the order of `subqueries`. */
  def withValues(values: Seq[Expression]): WindowOperatorSpec = {
    val remaining = values.iterator
    def valued[E <: Expression](value: E): E =
      value.transformDown { case _: ScalarSubquery => remaining.next() }.asInstanceOf[E]
    if (values.isEmpty) this
    else {
      val conditionValue = condition.map(valued)
      copy(condition = conditionValue, result = result.copy(columns = result.columns.map(valued)))
    }
  }

  /** The order in which the operator reads its input. */
  def orderOf(input: Preaggregation): Seq[SortOrder] =
    input match {
      case Preaggregation.AllByFrame => (keys :+ frame).map(SortOrder(_, Ascending))
      case Preaggregation.RowByRow | Preaggregation.MarkedRows => Nil
      case _ => orderOfKeys
    }

  // It brings the rows of a key near each other; `KeyGroupingIterator` then groups them.
  private def orderOfKeys: Seq[SortOrder] = {
    val byKey = if (keys.isEmpty) Nil else Seq(SortOrder(keyNumber, Ascending))
    groups.getOrElse(Nil).map(SortOrder(_, Ascending)) ++ byKey ++
      rows.flatMap(_.order).map(SortOrder(_, Ascending))
  }

  /** The number by which rows are sorted, to bring the rows of a key near each other. */
  private[operators] def keyNumber: Expression =
    if (arrival.isDefined) KeySortPrefix.aboveTask(keys)
    else if (families.hasPages) KeySortPrefix.hash(keys)
    else KeySortPrefix(keys)

  /** The sort of rows whose order in a key is that of their arrival; None for other rows. */
  private[operators] def arrivalSort(input: Preaggregation): Option[ArrivalSort] =
    for (column <- arrival if input == Preaggregation.PackedRows)
      yield new ArrivalSort(keys, column, rows.get.input :+ Preaggregation.newPacks)

  /** The column with the arrival of a row, if rows of a key are processed in that order. Rows of a
    * group are sorted by the group first, and some sessions are in the order of time.
    */
  private[spark] def arrival: Option[Attribute] =
    rows.filter(_.groups.isEmpty).flatMap { rows =>
      rows.order.filter(_.exprId != rows.input(keys.length).exprId)
    }

  private def groups: Option[Seq[Attribute]] = rows.flatMap(_.groups)

  /** The columns by which rows are partitioned; empty if all rows go to one partition. */
  def together: Seq[Attribute] = groups.getOrElse(keys)

  /** The column families of the window's state. */
  def families: WindowStateLayout =
    WindowStateLayout.of(keys, groups, settings.hasFrameTimers)

  /** A per-key watermark by a policy, for one batch. */
  private[operators] def timeBy(policy: PolicySpec, batch: BatchTime): PerKeyWatermark = {
    val clamp = rows.flatMap(_.clamp)
    def latest = clamp.fold(Long.MaxValue)(_.limit(batch.timestamp))
    new PerKeyWatermark(policy.forClockAhead(batch.ahead), batch.isCredited, latest, batch.lag)
  }

  def newCalls: AggregateFunctions = new AggregateFunctions(functions, counts, rows.map(_.columns))

  def newBuffers(calls: AggregateFunctions): BufferPool = BufferPool(calls, hasFixedBuffers)

  private def hasFixedBuffers: Boolean = AggregateFunctions.areFixed(functions)

  /** The layout of buffers in the state; None if the state has no buffers. */
  def layout(calls: AggregateFunctions): Option[BufferLayout] =
    Option.when(settings.retainingRows.isEmpty) {
      val parts = functions.zip(names).map { case (function, names) =>
        BufferPart.of(function, names)
      }
      val bytes = Option.when(hasFixedBuffers)(calls.empty.getSizeInBytes)
      BufferLayout(parts, bytes, deducts = counts.nonEmpty)
    }

  def combining: FrameCombining =
    if (readsDeducted) FrameCombining.MergeDeducted else FrameCombining(counts.nonEmpty)

  /** An empty window state over these buffers. */
  def newState(buffers: BufferPool, archive: BlockStore, blockSize: Int): FrameWindowState =
    FrameWindowState(settings.spec.shape, buffers, combining, archive, blockSize)

  /** The number of frames in a block, for a batch that closes `closes` windows.
    *
    * A result reads and writes least when the number of frames in the state equals the number of
    * blocks. But writing, reading and removing a block costs about the same as rewriting some
    * dozens of frames. So a block is worthwhile only if its frames are not rewritten for enough
    * batches. When a batch closes many windows, there are too few such batches. Without blocks, the
    * state holds all frames of a window.
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
  private val FramesForBlock = 64 // measured
  private val LeastFrames = 24
}

/** The layout of output rows.
  *
  * @param bounds
  *   start and end of the window, in output order
  * @param aggregates
  *   the results of the functions
  * @param pane
  *   index, timing and whether the pane is the last; empty if a window emits one row
  * @param columns
  *   the output, over the keys and the columns above
  * @param key
  *   the output of the key if the window emits its rows, over the keys
  */
private[spark] final case class ResultLayout(
    bounds: Seq[Attribute],
    aggregates: Seq[Attribute],
    pane: Seq[Attribute],
    columns: Seq[NamedExpression],
    key: Seq[Expression] = Nil
)

/** Makes the output rows; one instance per task. */
private[operators] final class ResultProjection(spec: WindowOperatorSpec) {
  private lazy val windows = spec.settings.spec
  private val hasStart = spec.settings.retainingRows.forall(_.hasStart)
  private val bounds = new SpecificInternalRow(Seq(LongType, LongType)) // avoids boxing
  private val keyAndBounds = new JoinedRow
  private val values = new JoinedRow
  private val all = new JoinedRow

  private val columns = {
    val ResultLayout(bounds, aggregates, pane, columns, _) = spec.result
    Projections.unsafe(columns, spec.keys ++ bounds ++ aggregates ++ pane)
  }

  /** The row of the window that ends at a boundary, valid until the next call. */
  def row(key: UnsafeRow, end: Long, results: InternalRow): UnsafeRow =
    row(key, windows.grid.start(windows.shape.start(end)), windows.grid.start(end), results)

  /** The row of a window, valid until the next call. */
  def row(key: UnsafeRow, start: Long, end: Long, results: InternalRow): UnsafeRow = {
    if (hasStart) bounds.setLong(0, start) else bounds.setNullAt(0)
    bounds.setLong(1, end)
    columns(all(keyAndBounds(key, bounds), results))
  }

  /** The results joined with the pane's columns, for `row`. */
  def withPane(results: InternalRow, pane: InternalRow): InternalRow = values(results, pane)
}
