package io.eventtide.spark.exec

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{BlockArchive, FrameRing}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.state.{AggregateCalls, FrameFamilies, FrameStore, WindowBuffers}

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
private[exec] final case class WindowTask(
    plan: WindowPlan,
    families: FrameFamilies,
    batchId: Long,
    nowMicros: Long,
    before: ClosedUpTo,
    after: ClosedUpTo,
    isPacked: Boolean = false,
    keyed: Option[KeyedBatch] = None,
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
  def endsAll: Boolean = keyed.exists(_.endsAll)

  def hasDeadlines: Boolean = plan.settings.hasDeadlines

  /** An empty ring of a key. */
  def newRing(buffers: WindowBuffers, archive: BlockArchive): FrameRing =
    plan.newRing(buffers, archive, plan.blockSize(closes = Clamped.subtract(closing, passed)))

  /** The state of a partition. */
  def open(store: StateStore): FrameStore = {
    val isByRow = keyed.isDefined
    val rules = plan.settings.rules
    FrameStore.open(store, families, batchId, nowMicros, isByRow, rules)
  }

  /** The bounds of a partition, with this state. */
  def openBounds(partition: Int, state: FrameStore): PartitionBounds = {
    val buckets = bounds.map { all =>
      val known = new KeyBounds(all.value).ofPartition(partition)
      val most = KeyBounds.most(partitions)
      val spec = plan.settings.spec
      val before = BoundedState(state.watermark, state.keyCount, state.hasOtherRules)
      new BoundBuckets(plan.together, spec.lateBelow, known, before, most)
    }
    new PartitionBounds(state.watermark, buckets)
  }

  /** Reads the rows that come. */
  def read(rows: Iterator[InternalRow], calls: AggregateCalls): KeyedRows = {
    val keys = plan.keys
    plan.rows match {
      case Some(row) if isPacked =>
        val packed = new PackedFrames.Of(row.input.length, calls.empty, SureFramesExec.Beside)
        val frames = new RowFrames.Mixed(keys.length, row.input.length, packed)
        KeyedRows.together(rows, keys, frames)
      case Some(_) => KeyedRows.whole(rows, keys)
      case None if isPacked =>
        KeyedRows.together(rows, keys, new PackedFrames.Of(keys.length, calls.empty))
      case None => KeyedRows(rows, keys, new RowFrames.Single(keys.length, calls.attributes))
    }
  }

  /** So many frames after its end a window is forgotten, at the latest. */
  lazy val latenessFrames: Long = plan.settings.latenessFrames
}

/** How far a watermark closes windows: for their results on time, and for good. */
private[exec] final case class ClosedUpTo(onTime: Long, last: Long)

private[exec] object ClosedUpTo {

  def apply(watermark: Option[Long], settings: WindowSettings): ClosedUpTo = ClosedUpTo(
    watermark.fold(Long.MinValue)(settings.closedUpTo),
    watermark.fold(Long.MinValue)(settings.closedForGood)
  )
}
