package io.eventtide.spark.operators.watermark

import java.time.Instant
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeProjection}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.{EventTimes, WatermarkSettings}
import io.eventtide.spark.spi.PartitionEventTimeStats

/** How to watch the rows of one batch: made on the driver, opened by each task.
  *
  * @param nowMicros
  *   the batch's timestamp, by which a row from the future is known
  */
private[watermark] final class EventTimeObserver(
    input: Seq[Attribute],
    eventTime: Attribute,
    substream: Seq[Expression],
    settings: WatermarkSettings,
    nowMicros: Option[Long],
    stats: SubstreamStatsAccum
) extends Serializable {

  /** Where the event time is among the columns. */
  val ordinal: Int = input.indexWhere(_.exprId == eventTime.exprId)

  val keys = new SubstreamKeyExtractor(bindReferences(substream, input), settings.maxSubstreams)

  /** Called once by a task; what it watches replaces an earlier report on the partition. */
  def open(partition: Int): PartitionEventTimeObserver = {
    val report = stats.begin(partition)
    val limit = for { now <- nowMicros; guard <- settings.guard } yield guard.limit(now)
    new PartitionEventTimeObserver(
      report,
      keys.open(report),
      settings.guard,
      limit,
      settings.keepsRefused
    )
  }

  /** As `open`, for rows that are not read by generated code. */
  def openRows(partition: Int): InternalRow => Boolean = {
    val watch = open(partition)
    val key = UnsafeProjection.create(keys.values)
    row => watch.accept(row, ordinal, key)
  }
}

/** Watches the rows of one partition. Generated code asks it only about rows out of the ordinary. */
final class PartitionEventTimeObserver private[watermark] (
    report: PartitionEventTimeStats,
    val finder: SubstreamLookup,
    guard: Option[FutureGuard],
    limit: Option[Long],
    keepsRefused: Boolean
) {

  /** Event times from `earliest` to `latest` need no question. */
  val earliest: Long = PartitionEventTimeObserver.MinMicros
  val latest: Long = limit.fold(PartitionEventTimeObserver.MaxMicros)(
    math.min(_, PartitionEventTimeObserver.MaxMicros)
  )

  /** What becomes of a row out of the ordinary; if it counts, it does as one at `latest`. */
  def judge(missing: Boolean, time: Long): Int =
    if (missing || time < earliest || time > PartitionEventTimeObserver.MaxMicros) {
      if (!keepsRefused) report.badTime += 1
      refused
    } else fromTheFuture(time)

  private def refused: Int =
    if (keepsRefused) PartitionEventTimeObserver.Stays else PartitionEventTimeObserver.Leaves

  private def fromTheFuture(time: Long): Int = guard.get.mode match {
    case FutureGuard.Clamp => PartitionEventTimeObserver.Counts
    case FutureGuard.Late =>
      if (!keepsRefused) report.future += 1
      refused
    case FutureGuard.Fail => throw PartitionEventTimeObserver.fromTheFuture(time, latest)
  }

  private[watermark] def accept(row: InternalRow, ordinal: Int, key: UnsafeProjection): Boolean = {
    val missing = row.isNullAt(ordinal)
    val time = if (missing) 0 else row.getLong(ordinal)
    val ordinary = !missing && time >= earliest && time <= latest
    val verdict = if (ordinary) PartitionEventTimeObserver.Counts else judge(missing, time)
    if (verdict == PartitionEventTimeObserver.Counts)
      finder.ofRow(key(row)).add(if (ordinary) time else latest)
    verdict != PartitionEventTimeObserver.Leaves
  }
}

private[watermark] object PartitionEventTimeObserver {

  /** It counts for its substream. */
  val Counts = 0

  /** It leaves the stream. */
  val Leaves = 1

  /** It stays in the stream and counts for nothing. */
  val Stays = 2

  val MinMicros: Long = EventTimes.All.lowest
  val MaxMicros: Long = EventTimes.All.highest

  private def fromTheFuture(time: Long, latest: Long): EventtideException =
    EventtideException("ROW_FROM_THE_FUTURE", "time" -> at(time), "limit" -> at(latest))

  private def at(micros: Long): Instant = Instant.EPOCH.plus(micros, ChronoUnit.MICROS)
}
