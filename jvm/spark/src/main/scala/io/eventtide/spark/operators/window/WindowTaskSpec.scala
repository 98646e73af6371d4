package io.eventtide.spark.operators.window

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.eventtide.TaskScans
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.rowwindow.RowLimits
import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{BlockStore, FrameArchive, FrameWindowState}
import io.eventtide.spark.latelog.LateLogWriter
import io.eventtide.spark.operators.late.KeyedLateRows
import io.eventtide.spark.operators.{
  BatchTime,
  BoundHashBuckets,
  LatenessBounds,
  PartitionBoundsInput,
  PartitionBoundsUpdate,
  Preaggregation,
  TaskWatermark,
  WindowOperatorSpec
}
import io.eventtide.spark.state.{AggregateFunctions, BufferPool, FrameStore}

/** The specification of the tasks of one batch, and their operators over a partition's state.
  *
  * @param batch
  *   the timing of the batch
  * @param input
  *   how input rows arrive
  * @param bounds
  *   the lateness bounds before the batch, if per-key watermarks raise them
  * @param lagging
  *   the lagging keys after the previous batch, by partition
  * @param partitions
  *   the number of state partitions
  * @param isRewrite
  *   whether the state is only rewritten: blocks do not change, and no row is late
  */
private[window] final case class WindowTaskSpec(
    spec: WindowOperatorSpec,
    batchId: Long,
    batch: BatchTime,
    input: Preaggregation = Preaggregation.Off,
    bounds: Option[Broadcast[Array[Long]]] = None,
    lagging: Map[Int, Seq[Array[Byte]]] = Map.empty,
    partitions: Int = 1,
    isRewrite: Boolean = false
) {
  private def settings = spec.settings

  private val passedLimit = new WatermarkLimit(settings.closedUpTo)
  private val closingLimit = new WatermarkLimit(settings.closedUpTo)

  /** The limit up to which timers had fired before this batch, see `WindowSettings.closedUpTo`. */
  def passed: Long = passedLimit.of(batch.before)

  /** The limit up to which timers fire in this batch. */
  def closing: Long =
    if (batch.isPeek) FrameWindowState.Never else closingLimit.of(batch.after)

  def closes: Boolean = closing > passed

  /** Whether every window closes, regardless of its time, including the windows of keys without a
    * timer.
    */
  val closesAll: Boolean = batch.closesAll && !settings.hasFrameTimers

  val hasProcessingTimers: Boolean = settings.hasProcessingTimers

  /** Whether keys whose processing-time timers are due are visited without input rows. While the
    * clock is held, they cannot become idle, so they would be read and written in each batch.
    */
  val visitsOverdue: Boolean = hasProcessingTimers && (batch.isCredited || firesByClock)

  private def firesByClock: Boolean = settings.triggers.exists(_.trigger.every.isDefined)

  /** Whether rows are processed one by one as they arrive. */
  def isRealTime: Boolean =
    input == Preaggregation.RowByRow || input == Preaggregation.MarkedRows

  /** The state of a partition. */
  def open(store: StateStore): FrameStore = new FrameStore(
    store,
    spec.families,
    batchId,
    () => batch.now,
    settings.timingOptions,
    if (isRealTime) WindowTaskSpec.CachedBytes else 0,
    Option.when(isRealTime)(new TaskScans)
  )

  /** The operator over a partition's state.
    *
    * @param groups
    *   the groups of keys that share a watermark
    */
  def operator(
      state: FrameStore,
      calls: AggregateFunctions,
      buffers: BufferPool,
      groups: Option[SharedWatermarkGroups]
  ): KeyedWindowOperator = settings.retainingRows match {
    case Some(kind) =>
      val archives = RowArchives(state.blocks, state.history)
      val limits = RowLimits(atHand = kind.rowsAtHand)
      new RetainedRowWindowOperator(spec, kind, batch, archives, calls, buffers, log(state), limits)
    case None => buffering(state, calls, buffers, groups)
  }

  /** The operator over a partition's state, for windows that do not retain rows. */
  def buffering(
      state: FrameStore,
      calls: AggregateFunctions,
      buffers: BufferPool,
      groups: Option[SharedWatermarkGroups]
  ): BufferingWindowOperator =
    if (settings.hasFrameTimers) {
      val frames = newState(buffers, state.blocks)
      val limits = new TaskFrameLimits(this)
      limits.emitted = state.closed
      val late = log(state).map(new KeyedLateRows(spec, batch, _, () => batch.before))
      new FrameWindowOperator(spec, frames, calls, buffers, limits, late)
    } else {
      val time = if (batch.isPeek) batch.copy(watermark = watermarkOf(state)) else batch
      new AggregatingWindowOperator(spec, time, archive(state), calls, buffers, log(state), groups)
    }

  private def log(state: FrameStore): Option[LateLogWriter] =
    spec.rows.filterNot(_ => isRewrite).flatMap(_ => batch.log).map(_.open(state.partition))

  /** The query's watermark when the state was saved. */
  private def watermarkOf(state: FrameStore): TaskWatermark =
    TaskWatermark.OfBatch(Option.when(state.closed != Long.MinValue)(state.closed), None)

  private def newState(buffers: BufferPool, blocks: BlockStore): FrameWindowState = {
    val closes = Clamped.subtract(closing, passed)
    spec.newState(buffers, blocks, if (isRewrite) Int.MaxValue else spec.blockSize(closes))
  }

  private def archive(state: FrameStore): FrameArchive =
    FrameArchive(state.history, if (isRewrite) Int.MaxValue else WindowTaskSpec.HistoryBlock)

  /** The lateness bounds of a partition, given its state. */
  def openBounds(partition: Int, state: FrameStore): PartitionBoundsUpdate = {
    val buckets = bounds.map { all =>
      val known = new LatenessBounds(all.value).partitionBounds(partition)
      val most = LatenessBounds.most(partitions)
      val before = PartitionBoundsInput(state.watermark, state.keyCount, state.timingChanged)
      new BoundHashBuckets(spec.together, settings.spec.lateBelow, known, before, most)
    }
    new PartitionBoundsUpdate(state.watermark, buckets)
  }
}

private object WindowTaskSpec {
  private val CachedBytes = 32L << 20
  private val HistoryBlock = 8 // frames
}
