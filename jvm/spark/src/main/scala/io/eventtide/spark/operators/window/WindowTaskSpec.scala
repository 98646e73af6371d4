package io.eventtide.spark.operators.window

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{BlockStore, FrameWindowState}
import io.eventtide.spark.operators.preagg.{
  FrameReader,
  KeyedFrameReader,
  MapSideFrameAggregateExec,
  PackedFramesReader
}
import io.eventtide.spark.operators.{
  BatchTime,
  BoundHashBuckets,
  LatenessBounds,
  PartitionBoundsInput,
  PartitionBoundsUpdate,
  WindowOperatorSpec
}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.state.{AggregateFunctions, BufferPool, FrameStore, WindowStateLayout}

/** The specification of the tasks of one batch.
  *
  * @param nowMicros
  *   the batch's time by the query's clock
  * @param before
  *   the boundaries that were closed before this batch
  * @param after
  *   the boundaries that this batch closes
  * @param hasPackedFrames
  *   whether input rows have all frames of a key; if lateness depends on the keys, some rows have
  * @param keyed
  *   the timing of the batch if lateness depends on the keys
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
    nowMicros: Long,
    before: ClosedBoundaries,
    after: ClosedBoundaries,
    hasPackedFrames: Boolean = false,
    keyed: Option[BatchTime] = None,
    bounds: Option[Broadcast[Array[Long]]] = None,
    lagging: Map[Int, Seq[Array[Byte]]] = Map.empty,
    partitions: Int = 1
) {

  /** The boundary up to which windows had closed before this batch. */
  def passed: Long = before.onTime

  /** The boundary up to which open windows close in this batch. */
  def closing: Long = after.onTime

  /** The boundary up to which windows were final before this batch. */
  def lastPassed: Long = before.last

  /** The boundary up to which windows are final after this batch. */
  def last: Long = after.last

  def closes: Boolean = closing > passed

  /** Whether every window closes, whatever its time, including the windows of keys without a timer.
    */
  def closesAll: Boolean = keyed.exists(_.closesAll)

  def hasProcessingTimers: Boolean = plan.settings.hasProcessingTimers

  /** An empty window state for a key. */
  def newRing(buffers: BufferPool, archive: BlockStore): FrameWindowState =
    plan.newRing(buffers, archive, plan.blockSize(closes = Clamped.subtract(closing, passed)))

  /** The state of a partition. */
  def open(store: StateStore): FrameStore = {
    val isByRow = keyed.isDefined
    val timingOptions = plan.settings.timingOptions
    FrameStore.open(store, families, batchId, nowMicros, isByRow, timingOptions)
  }

  /** The lateness bounds of a partition, given its state. */
  def openBounds(partition: Int, state: FrameStore): PartitionBoundsUpdate = {
    val buckets = bounds.map { all =>
      val known = new LatenessBounds(all.value).partitionBounds(partition)
      val most = LatenessBounds.most(partitions)
      val spec = plan.settings.spec
      val before = PartitionBoundsInput(state.watermark, state.keyCount, state.timingChanged)
      new BoundHashBuckets(plan.together, spec.lateBelow, known, before, most)
    }
    new PartitionBoundsUpdate(state.watermark, buckets)
  }

  /** Reads the input rows. */
  def read(rows: Iterator[InternalRow], calls: AggregateFunctions): KeyedFrameReader = {
    val keys = plan.keys
    plan.rows match {
      case Some(row) if hasPackedFrames =>
        val packed =
          new PackedFramesReader(
            row.input.length,
            calls.empty,
            MapSideFrameAggregateExec.FrameTimeColumns
          )
        val frames = new FrameReader.Mixed(keys.length, row.input.length, packed)
        KeyedFrameReader.together(rows, keys, frames)
      case Some(_) => KeyedFrameReader.rawRows(rows, keys)
      case None if hasPackedFrames =>
        KeyedFrameReader.together(rows, keys, new PackedFramesReader(keys.length, calls.empty))
      case None =>
        KeyedFrameReader(rows, keys, new FrameReader.SingleFrame(keys.length, calls.attributes))
    }
  }

  /** The maximum number of frames for which a window is retained after its end. */
  lazy val latenessFrames: Long = plan.settings.latenessFrames
}

/** The boundaries up to which a watermark closes windows: on time, and for good. */
private[window] final case class ClosedBoundaries(onTime: Long, last: Long)

private[window] object ClosedBoundaries {

  def apply(watermark: Option[Long], settings: WindowSettings): ClosedBoundaries = ClosedBoundaries(
    watermark.fold(Long.MinValue)(settings.closedUpTo),
    watermark.fold(Long.MinValue)(settings.closedForGood)
  )
}
