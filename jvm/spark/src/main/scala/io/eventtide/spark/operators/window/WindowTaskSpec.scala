package io.eventtide.spark.operators.window

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{BlockStore, FrameArchives, FrameWindowState}
import io.eventtide.spark.operators.{
  BatchTime,
  BoundHashBuckets,
  LatenessBounds,
  PartitionBoundsInput,
  PartitionBoundsUpdate,
  Preaggregation,
  WindowOperatorSpec
}
import io.eventtide.spark.state.{AggregateFunctions, BufferPool, FrameStore, WindowStateLayout}

/** The specification of the tasks of one batch, and what they make of a partition's state.
  *
  * @param batch
  *   the timing of the batch
  * @param input
  *   how input rows arrive
  * @param bounds
  *   the lateness bounds before the batch, if per-key watermarks raise them
  * @param lagging
  *   the lagging keys after the batch before, by partition
  * @param partitions
  *   the number of state partitions
  */
private[window] final case class WindowTaskSpec(
    plan: WindowOperatorSpec,
    families: WindowStateLayout,
    batchId: Long,
    batch: BatchTime,
    input: Preaggregation = Preaggregation.Off,
    bounds: Option[Broadcast[Array[Long]]] = None,
    lagging: Map[Int, Seq[Array[Byte]]] = Map.empty,
    partitions: Int = 1
) {
  private def settings = plan.settings

  /** How far timers had fired before this batch, see `WindowSettings.closedUpTo`. */
  val passed: Long = batch.before.fold(Long.MinValue)(settings.closedUpTo)

  /** How far timers fire in this batch. */
  val closing: Long =
    if (batch.isPeek) FrameWindowState.Never
    else batch.after.fold(Long.MinValue)(settings.closedUpTo)

  def closes: Boolean = closing > passed

  /** Whether every window closes, whatever its time, including the windows of keys without a timer.
    */
  def closesAll: Boolean = batch.closesAll && !settings.hasFrameTimers

  def hasProcessingTimers: Boolean = settings.hasProcessingTimers

  /** The state of a partition. */
  def open(store: StateStore): FrameStore = FrameStore.open(
    store,
    families,
    batchId,
    batch.now,
    isByRow = !settings.hasFrameTimers,
    settings.timingOptions
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
  ): KeyedWindowOperator = {
    def log = plan.rows.flatMap(_ => batch.log).map(_.open(state.partition))
    settings.retainingRows match {
      case Some(kind) =>
        val archives = RowArchives(state.blocks, state.history)
        RetainedRowWindowOperator(plan, kind, batch, archives, calls, buffers, log)
      case None if settings.hasFrameTimers =>
        val frames = newState(buffers, state.blocks)
        val emitted = state.closed
        new FrameWindowOperator(plan, frames, calls, buffers, passed, emitted, () => closing)
      case None =>
        new AggregatingWindowOperator(plan, batch, archives(state), calls, buffers, log, groups)
    }
  }

  private def newState(buffers: BufferPool, blocks: BlockStore): FrameWindowState =
    plan.newState(buffers, blocks, plan.blockSize(closes = Clamped.subtract(closing, passed)))

  // If rows are judged by their keys, it is not known how many windows a batch closes.
  private def archives(state: FrameStore): FrameArchives =
    if (plan.rows.isDefined) FrameArchives.None
    else {
      def boundary(watermark: Option[Long]) =
        watermark.fold(Long.MinValue)(settings.onTime.closed)
      val closes = Clamped.subtract(boundary(batch.after), boundary(batch.before))
      val openBlock = plan.blockSize(if (batch.isPeek) Long.MaxValue else closes)
      FrameArchives(state.blocks, state.history, openBlock, WindowTaskSpec.HistoryBlock)
    }

  /** The lateness bounds of a partition, given its state. */
  def openBounds(partition: Int, state: FrameStore): PartitionBoundsUpdate = {
    val buckets = bounds.map { all =>
      val known = new LatenessBounds(all.value).partitionBounds(partition)
      val most = LatenessBounds.most(partitions)
      val before = PartitionBoundsInput(state.watermark, state.keyCount, state.timingChanged)
      new BoundHashBuckets(plan.together, settings.spec.lateBelow, known, before, most)
    }
    new PartitionBoundsUpdate(state.watermark, buckets)
  }
}

private object WindowTaskSpec {
  private val HistoryBlock = 8 // frames
}
