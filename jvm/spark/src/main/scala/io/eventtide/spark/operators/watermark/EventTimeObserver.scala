package io.eventtide.spark.operators.watermark

import java.time.Instant
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.{bindReference, bindReferences}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeProjection}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.EventtideException
import io.eventtide.spark.operators.{AcceptedTimes, TaskClock}
import io.eventtide.spark.options.{EventTimes, WatermarkSettings}
import io.eventtide.spark.spi.{PartitionEventTimeStats, ReachedTime}

/** The time of a batch by the machine's clock, and the event time that the query had reached.
  *
  * @param reached
  *   the time to which disorder is relative; None if disorder is not counted
  * @param isRealTime
  *   whether the batch lasts for minutes, so that its start is not the time of its rows
  */
private[watermark] final case class ObservedTime(
    startMicros: Long,
    reached: Option[ReachedTime],
    isRealTime: Boolean
) {
  def running: Option[() => Long] =
    Option.when(isRealTime)(() => TaskClock.machineMicros)
}

/** Observes the event times of one batch; created on the driver, opened by each task.
  *
  * @param time
  *   the time to which the limit for future rows is relative; None in a plan that does not run as a
  *   streaming batch
  */
private[watermark] final class EventTimeObserver(
    input: Seq[Attribute],
    eventTime: Attribute,
    substream: Seq[Expression],
    markColumn: Option[Expression],
    settings: WatermarkSettings,
    time: Option[ObservedTime],
    stats: SubstreamStatsAccum
) extends Serializable {

  /** The ordinal of the event time. */
  val ordinal: Int = input.indexWhere(_.exprId == eventTime.exprId)

  /** The mark of a row, if the policy follows marks. */
  val mark: Option[Expression] = markColumn.map(bindReference(_, input))

  val keys = new SubstreamKeyExtractor(bindReferences(substream, input), settings.maxSubstreams)

  /** Called once by a task; of several reports on a partition, the report with the most rows
    * counts.
    */
  def open(partition: Int): PartitionEventTimeObserver = {
    val report = stats.begin(partition)
    val now = time.map(_.startMicros)
    val times = AcceptedTimes(EventTimes.All, settings.guard, now, time.flatMap(_.running))
    val lookup = keys.open(report)
    val reached = time.flatMap(_.reached).getOrElse(ReachedTime.None)
    new PartitionEventTimeObserver(
      report,
      lookup,
      settings.guard,
      times,
      settings.keepsRefused,
      reached
    )
  }

  /** As `open`, for rows that are not processed by generated code; false for rows to remove. */
  def openRows(partition: Int): InternalRow => Boolean = {
    val observer = open(partition)
    val key = UnsafeProjection.create(keys.values)
    row => observer.accept(row, ordinal, key, mark)
  }
}

/** Observes the rows of one partition. Generated code calls `judge` only for rows outside the usual
  * range.
  */
final class PartitionEventTimeObserver private[watermark] (
    report: PartitionEventTimeStats,
    val finder: SubstreamLookup,
    guard: Option[FutureGuard],
    times: AcceptedTimes,
    keepsRefused: Boolean,
    query: ReachedTime
) {
  private val disorder = report.disorder
  private val watermark = query.watermarkMicros

  /** Rows below this time are out of order. */
  val reached: Long = query.micros

  /** Counts a row that is out of order. */
  def countDisorder(time: Long): Unit = {
    disorder.add(reached - time)
    if (time < watermark) report.late += 1
  }

  /** Event times from `earliest` to `latest` are counted without a call of `judge`. */
  val earliest: Long = times.earliest
  def latest: Long = times.latest

  /** The verdict on a row outside the usual range. If the row counts, it counts as a row at
    * `latest` at most.
    */
  def judge(missing: Boolean, time: Long): Int =
    if (missing || !times.valid.contains(time)) {
      if (!keepsRefused) report.badTime += 1
      refused
    } else if (times.isFuture(time)) fromTheFuture(time)
    else PartitionEventTimeObserver.Counts

  private def refused: Int =
    if (keepsRefused) PartitionEventTimeObserver.Stays else PartitionEventTimeObserver.Leaves

  private def fromTheFuture(time: Long): Int = guard.get.mode match {
    case FutureGuard.Clamp => PartitionEventTimeObserver.Counts
    case FutureGuard.Late =>
      if (!keepsRefused) report.future += 1
      refused
    case FutureGuard.Fail => throw PartitionEventTimeObserver.fromTheFuture(time, latest)
  }

  /** The mark as counted: not above the usual range, like the time of its row. */
  def limited(mark: Long): Long = math.min(mark, latest)

  private[watermark] def accept(
      row: InternalRow,
      ordinal: Int,
      key: UnsafeProjection,
      mark: Option[Expression]
  ): Boolean = {
    val missing = row.isNullAt(ordinal)
    val time = if (missing) 0 else row.getLong(ordinal)
    val ordinary = !missing && time >= earliest && time <= latest
    val outcome = if (ordinary) PartitionEventTimeObserver.Counts else judge(missing, time)
    if (outcome == PartitionEventTimeObserver.Counts) {
      val rows = finder.findRow(key(row))
      val counted = math.min(time, latest)
      rows.add(counted)
      if (counted < reached) countDisorder(counted)
      mark.map(_.eval(row)).foreach { value =>
        if (value != null) rows.addMark(limited(value.asInstanceOf[Long]))
      }
    }
    outcome != PartitionEventTimeObserver.Leaves
  }
}

private[watermark] object PartitionEventTimeObserver {

  /** The row counts for its substream. */
  val Counts = 0

  /** The row is removed from the stream. */
  val Leaves = 1

  /** The row stays in the stream and does not count. */
  val Stays = 2

  private def fromTheFuture(time: Long, latest: Long): EventtideException =
    EventtideException("ROW_FROM_THE_FUTURE", "time" -> at(time), "limit" -> at(latest))

  private def at(micros: Long): Instant = Instant.EPOCH.plus(micros, ChronoUnit.MICROS)
}
