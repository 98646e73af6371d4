package io.eventtide.spark.operators.preagg

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.operators.{
  AcceptedTimes,
  KeyBucket,
  LatenessBounds,
  LookaheadIterator,
  WindowBatchContext,
  WindowOperatorSpec
}
import io.eventtide.spark.state.Projections

/** Finds the rows of a batch that are certainly on time; sent to the executors.
  *
  * @param place
  *   the bucket of a row's key, over the row
  * @param timeAt
  *   the ordinal of the event time
  * @param times
  *   the accepted event times
  * @param bounds
  *   the bounds as `LatenessBounds`; None in a plan that does not run as a streaming batch
  */
private[spark] final case class OnTimeRowFilter(
    place: KeyBucket,
    timeAt: Int,
    times: AcceptedTimes,
    bounds: Option[Broadcast[Array[Long]]]
) {
  def open(frames: FrameHashMap, sureRows: SQLMetric): OnTimeRowFilterTask = {
    val known = bounds.getOrElse(throw new IllegalStateException("no batch of a streaming query"))
    new OnTimeRowFilterTask(new LatenessBounds(known.value), times, frames, sureRows)
  }
}

private[spark] object OnTimeRowFilter {

  /** The filter of a batch.
    *
    * @param batch
    *   None in a plan that does not run as a streaming batch
    */
  def of(spec: WindowOperatorSpec, batch: Option[WindowBatchContext])(
      input: Seq[Attribute]
  ): OnTimeRowFilter = {
    val guard = spec.rows.flatMap(_.guard)
    OnTimeRowFilter(
      LatenessBounds.place(spec.together, batch.fold(1)(_.stateInfo.numPartitions)).over(input),
      timeAt = spec.keys.length,
      AcceptedTimes(spec.settings.times, guard, batch.map(_.nowMicros)),
      batch.map(_.bounds)
    )
  }
}

/** The filter in a task. It stops aggregating rows once aggregation hardly reduces their number.
  *
  * @param frames
  *   the map in which rows that are certainly on time are aggregated
  */
final class OnTimeRowFilterTask private[preagg] (
    bounds: LatenessBounds,
    times: AcceptedTimes,
    frames: FrameHashMap,
    sureRows: SQLMetric
) {
  import OnTimeRowFilterTask._

  private val earliest = times.earliest
  private val latest = times.latest

  private var aggregated = 0L
  private var keysBefore = 0 // the number of keys at the last check
  private var reduces = true

  /** Whether to aggregate a row; its key's bound is in this bucket. */
  def accepts(micros: Long, partition: Int, hash: Int): Boolean = {
    val isOnTime = reduces && micros >= earliest && micros <= latest &&
      micros >= bounds.of(partition, hash)
    if (isOnTime) {
      sureRows.add(1)
      aggregated += 1
      if ((aggregated & (CheckEvery - 1)) == 0) checkGain()
    }
    isOnTime
  }

  // If keys have hardly more than a row each, sending frames takes more bytes than sending rows.
  private def checkGain(): Unit = {
    val newKeys = frames.keyCount - keysBefore
    reduces = aggregated < AtFirst || newKeys < CheckEvery / 8 * 7
    keysBefore = frames.keyCount
  }
}

private[operators] object OnTimeRowFilterTask {
  private val CheckEvery = 1 << 14
  private val AtFirst = 1 << 15
}

/** The rows of one partition, without whole-stage generated code: the rows that pass through, in
  * input order. The frames of the other rows come at the end, or when they fill the memory.
  */
private[preagg] final class OnTimeFrameIterator(
    rows: Iterator[InternalRow],
    sure: OnTimeRowFilter,
    updates: FrameAggregation,
    frames: FrameHashMap,
    sureRows: SQLMetric
) extends LookaheadIterator[InternalRow] {
  private val found = sure.open(frames, sureRows)
  private val placeOf = Projections.unsafe(Seq(sure.place.partition, sure.place.hash))
  private val take = new FrameUpdater(updates, frames)
  private val withoutFrames = GenerateUnsafeRowJoiner.create(
    StructType(updates.keyColumns ++ updates.others),
    FrameAggregation.FramesColumn
  )

  private var raw: UnsafeRow = _ // passes through; null while frames are emitted
  private var isEmitting = false

  protected def current: InternalRow =
    if (raw == null) frames.row else withoutFrames.join(raw, FrameHashMap.NullColumn)

  protected def advance(): Boolean = {
    raw = null
    isEmitting = isEmitting && frames.next()
    var hasMore = true
    while (raw == null && !isEmitting && hasMore) {
      hasMore = rows.hasNext
      aggregateRows()
      isEmitting = raw == null && frames.next()
    }
    raw != null || isEmitting
  }

  /** Aggregates rows until a row passes through or memory is full. */
  private def aggregateRows(): Unit =
    while (raw == null && rows.hasNext && !frames.isFull) {
      val row = rows.next().asInstanceOf[UnsafeRow]
      if (isOnTime(row)) take(row) else raw = row
    }

  private def isOnTime(row: UnsafeRow): Boolean = !row.isNullAt(sure.timeAt) && {
    val place = placeOf(row)
    found.accepts(row.getLong(sure.timeAt), place.getInt(0), place.getInt(1))
  }
}
