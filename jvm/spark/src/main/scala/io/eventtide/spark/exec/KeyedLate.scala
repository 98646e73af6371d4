package io.eventtide.spark.exec

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

import io.eventtide.spark.late.{LateLog, LateReason}

/** Which rows of a task are in no window, where each is judged by its key; those in time are counted. */
private[exec] final class KeyedLate(plan: WindowPlan, batch: KeyedBatch, log: LateLog) {
  private val rows = plan.rows.get
  private val late = log.open(TaskContext.getPartitionId())
  private val toLog = UnsafeProjection.create(bindReferences(rows.logged, rows.input))
  private val windows = plan.settings.windows
  private val timeAt = plan.keys.length
  private val latest = rows.guard.fold(PartitionWatch.MaxMicros)(_.limit(batch.now))
  private val reason = LateReason.of(windows.lateRule)

  /** Whether a row can be in no window, whatever its key; it is logged then. */
  def refuses(micros: Long, row: UnsafeRow, watermark: Option[Long]): Boolean = {
    val hasTime = !row.isNullAt(timeAt) &&
      micros >= PartitionWatch.MinMicros && micros <= PartitionWatch.MaxMicros
    if (!hasTime) addWithoutTime(row, watermark)
    else if (micros > latest) add(micros, row, watermark, LateReason.Future)
    !hasTime || micros > latest
  }

  /** Counts rows that were in time, whose lowest time is this. */
  def pass(lowest: Long, rows: Long): Unit = late.pass(lowest, rows)

  /** Counts a row that was in time, and logs another.
    *
    * @param watermark
    *   by which it was judged
    */
  def judged(micros: Long, row: UnsafeRow, watermark: Option[Long], isOnTime: Boolean): Unit =
    if (isOnTime) late.pass(micros) else add(micros, row, watermark, reason)

  private def addWithoutTime(row: UnsafeRow, watermark: Option[Long]): Unit = {
    late.judgedBy(watermark)
    late.addWithoutTime(toLog(row))
  }

  private def add(micros: Long, row: UnsafeRow, watermark: Option[Long], why: LateReason): Unit = {
    late.judgedBy(watermark)
    late.add(toLog(row), why, micros, windows.windowsOf(micros))
  }
}
