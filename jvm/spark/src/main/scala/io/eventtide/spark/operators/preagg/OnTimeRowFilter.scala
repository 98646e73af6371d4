package io.eventtide.spark.operators.preagg

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.operators.{
  KeyBucket,
  LatenessBounds,
  LookaheadIterator,
  WindowBatchContext,
  WindowOperatorSpec
}

/** Which rows of a batch are surely on time; sent to the executors.
  *
  * @param place
  *   that of a row's key, over the row
  * @param timeAt
  *   which column is the time
  * @param earliest
  *   rows before it have no time that counts
  * @param latest
  *   rows after it are from the future, or have no time that counts
  * @param bounds
  *   as `LatenessBounds`; None in a plan that will not run as a streaming batch
  */
private[spark] final case class OnTimeRowFilter(
    place: KeyBucket,
    timeAt: Int,
    earliest: Long,
    latest: Long,
    bounds: Option[Broadcast[Array[Long]]]
) {
  def open(frames: FrameHashMap, sureRows: SQLMetric): OnTimeRowFilterTask = {
    val known = bounds.getOrElse(throw new IllegalStateException("no batch of a streaming query"))
    new OnTimeRowFilterTask(new LatenessBounds(known.value), earliest, latest, frames, sureRows)
  }
}

private[spark] object OnTimeRowFilter {

  /** Those of a batch.
    *
    * @param batch
    *   None in a plan that will not run as a streaming batch
    */
  def of(plan: WindowOperatorSpec, batch: Option[WindowBatchContext])(
      input: Seq[Attribute]
  ): OnTimeRowFilter = {
    val latest = for {
      now <- batch.map(_.nowMicros)
      guard <- plan.rows.flatMap(_.guard)
    } yield guard.limit(now)
    OnTimeRowFilter(
      LatenessBounds.place(plan.together, batch.fold(1)(_.stateInfo.numPartitions)).over(input),
      timeAt = plan.keys.length,
      plan.settings.times.lowest,
      latest.fold(plan.settings.times.highest)(math.min(_, plan.settings.times.highest)),
      batch.map(_.bounds)
    )
  }
}

/** The same in a task, where rows are no more aggregated if that makes them hardly fewer.
  *
  * @param frames
  *   to which rows go that are sure
  */
final class OnTimeRowFilterTask private[preagg] (
    bounds: LatenessBounds,
    earliest: Long,
    latest: Long,
    frames: FrameHashMap,
    sureRows: SQLMetric
) {
  import OnTimeRowFilterTask._

  private var taken = 0L
  private var keysBefore = 0 // when it was last looked at how many there are
  private var gains = true

  /** Whether a row is to be aggregated, with the bound of its key in that place. */
  def takes(micros: Long, partition: Int, hash: Int): Boolean = {
    val isSure = gains && micros >= earliest && micros <= latest &&
      micros >= bounds.of(partition, hash)
    if (isSure) {
      sureRows.add(1)
      taken += 1
      if ((taken & (Looked - 1)) == 0) look()
    }
    isSure
  }

  // Of keys that have hardly more than a row each, frames are more to send than the rows.
  private def look(): Unit = {
    val newKeys = frames.keyCount - keysBefore
    gains = taken < AtFirst || newKeys < Looked / 8 * 7
    keysBefore = frames.keyCount
  }
}

private[operators] object OnTimeRowFilterTask {
  private val Looked = 1 << 14
  private val AtFirst = 1 << 15
}

/** The rows of one partition without generated code for the whole stage: first those that go on, as
  * they come, then the frames of the others.
  */
private[preagg] final class OnTimeFrameIterator(
    rows: Iterator[InternalRow],
    sure: OnTimeRowFilter,
    updates: FrameAggregation,
    frames: FrameHashMap,
    sureRows: SQLMetric
) extends LookaheadIterator[InternalRow] {
  private val found = sure.open(frames, sureRows)
  private val placeOf = UnsafeProjection.create(Seq(sure.place.partition, sure.place.hash))
  private val take = new FrameUpdater(updates, frames)
  private val withoutFrames = GenerateUnsafeRowJoiner.create(
    StructType(updates.keyColumns ++ updates.others),
    FrameAggregation.FramesColumn
  )

  private var raw: UnsafeRow = _ // that goes on; null where frames are given
  private var giving = false

  protected def current: InternalRow =
    if (raw == null) frames.row else withoutFrames.join(raw, OnTimeFrameIterator.NoFrames)

  protected def advance(): Boolean = {
    raw = null
    giving = giving && frames.next()
    var isLeft = true
    while (raw == null && !giving && isLeft) {
      isLeft = rows.hasNext
      takeRows()
      giving = raw == null && frames.next()
    }
    raw != null || giving
  }

  /** Takes rows until one has to go on, or memory is full. */
  private def takeRows(): Unit =
    while (raw == null && rows.hasNext && !frames.isFull) {
      val row = rows.next().asInstanceOf[UnsafeRow]
      if (isSure(row)) take(row) else raw = row
    }

  private def isSure(row: UnsafeRow): Boolean = !row.isNullAt(sure.timeAt) && {
    val place = placeOf(row)
    found.takes(row.getLong(sure.timeAt), place.getInt(0), place.getInt(1))
  }
}

private object OnTimeFrameIterator {
  private val NoFrames: UnsafeRow = {
    val row = UnsafeRow.createFromByteArray(16, 1)
    row.setNullAt(0)
    row
  }
}
