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
  PackedFrames
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

/** What the tasks of one batch have to do.
  *
  * @param nowMicros
  *   the batch's time by the query's clock
  * @param before
  *   what was closed before this batch
  * @param after
  *   what closes in this batch
  * @param isPacked
  *   whether a row that comes has all frames of a key; where rows are judged by their keys, some have
  * @param keyed
  *   what is to be known where rows are judged by their keys
  * @param bounds
  *   those of the batch, where keys have watermarks of their own that raise them
  * @param lagging
  *   keys that were far behind after the batch before, by partition
  * @param partitions
  *   of the state
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

  /** Windows that end at this boundary or before had closed before this batch. */
  def passed: Long = before.onTime

  /** Windows that end at this boundary or before close in this batch, if they have not yet. */
  def closing: Long = after.onTime

  /** Windows that end at this boundary or before could change no more before this batch. */
  def lastPassed: Long = before.last

  /** Windows that end at this boundary or before can change no more. */
  def last: Long = after.last

  def closes: Boolean = closing > passed

  /** Whether every window closes, whatever its time, and also of keys that are not due by any. */
  def closesAll: Boolean = keyed.exists(_.closesAll)

  def hasDeadlines: Boolean = plan.settings.hasDeadlines

  /** An empty ring of a key. */
  def newRing(buffers: BufferPool, archive: BlockStore): FrameWindowState =
    plan.newRing(buffers, archive, plan.blockSize(closes = Clamped.subtract(closing, passed)))

  /** The state of a partition. */
  def open(store: StateStore): FrameStore = {
    val isByRow = keyed.isDefined
    val rules = plan.settings.rules
    FrameStore.open(store, families, batchId, nowMicros, isByRow, rules)
  }

  /** The bounds of a partition, with this state. */
  def openBounds(partition: Int, state: FrameStore): PartitionBoundsUpdate = {
    val buckets = bounds.map { all =>
      val known = new LatenessBounds(all.value).ofPartition(partition)
      val most = LatenessBounds.most(partitions)
      val spec = plan.settings.spec
      val before = PartitionBoundsInput(state.watermark, state.keyCount, state.timingChanged)
      new BoundHashBuckets(plan.together, spec.lateBelow, known, before, most)
    }
    new PartitionBoundsUpdate(state.watermark, buckets)
  }

  /** Reads the rows that come. */
  def read(rows: Iterator[InternalRow], calls: AggregateFunctions): KeyedFrameReader = {
    val keys = plan.keys
    plan.rows match {
      case Some(row) if hasPackedFrames =>
        val packed =
          new PackedFrames.Of(row.input.length, calls.empty, MapSideFrameAggregateExec.Beside)
        val frames = new FrameReader.Mixed(keys.length, row.input.length, packed)
        KeyedFrameReader.together(rows, keys, frames)
      case Some(_) => KeyedFrameReader.whole(rows, keys)
      case None if hasPackedFrames =>
        KeyedFrameReader.together(rows, keys, new PackedFrames.Of(keys.length, calls.empty))
      case None =>
        KeyedFrameReader(rows, keys, new FrameReader.Single(keys.length, calls.attributes))
    }
  }

  /** So many frames after its end a window is forgotten, at the latest. */
  lazy val latenessFrames: Long = plan.settings.latenessFrames
}

/** How far a watermark closes windows: for their results on time, and for good. */
private[window] final case class ClosedBoundaries(onTime: Long, last: Long)

private[window] object ClosedBoundaries {

  def apply(watermark: Option[Long], settings: WindowSettings): ClosedBoundaries = ClosedBoundaries(
    watermark.fold(Long.MinValue)(settings.closedUpTo),
    watermark.fold(Long.MinValue)(settings.closedForGood)
  )
}
