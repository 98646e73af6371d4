package io.eventtide.spark.operators.late

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.window.TimeRange
import io.eventtide.spark.latelog.{LateLogWriter, LateReason}
import io.eventtide.spark.operators.{AcceptedTimes, BatchTime, RowGaps, WindowOperatorSpec}
import io.eventtide.spark.state.Projections

/** Finds and logs the rows of a task that are in no window, by the watermark of each row's key.
  * Rows on time are counted.
  *
  * @param watermark
  *   the watermark of the current key
  * @param reached
  *   the highest time of the current key before the batch, as `KeyWatermark.reached`
  */
private[operators] final class KeyedLateRows(
    spec: WindowOperatorSpec,
    batch: BatchTime,
    late: LateLogWriter,
    watermark: () => Option[Long],
    reached: () => Long = () => Long.MinValue
) {
  private val rows = spec.rows.get
  private val toLog = Projections.unsafe(rows.logged, rows.input)
  private val windows = spec.settings.windows
  private val timeAt = spec.keys.length
  private val times =
    AcceptedTimes(spec.settings.times, rows.guard, Some(batch.timestamp), batch.runningTimestamp)
  private val reason = LateReason.of(windows.lateRule)
  private val gaps = RowGaps(spec)

  // Of the rows of all keys, if a late target learns from it.
  private val disorder =
    if (spec.settings.byKey.exists(_.learnsLag)) late.beginDisorder() else null

  /** Whether a row is in no window, regardless of its key; such a row is logged. */
  def refuses(micros: Long, row: UnsafeRow): Boolean = {
    val hasTime = KeyedLateRows.hasTime(micros, row, timeAt, times.valid)
    val isFuture = hasTime && times.isFuture(micros) // asked once, because the limit may move
    if (!hasTime) addWithoutTime(row)
    else if (isFuture) add(micros, row, LateReason.Future)
    !hasTime || isFuture || gaps.isDefined && refusesGap(micros, row, gaps.get)
  }

  private def refusesGap(micros: Long, row: UnsafeRow, gap: RowGaps): Boolean = {
    val isMissing = gap.isMissing(row)
    val isRefused = isMissing || !gap.fits(micros, row)
    if (isMissing) addWithoutGap(micros, row) else if (isRefused) addWithoutTime(row)
    isRefused
  }

  /** Counts rows that are on time.
    *
    * @param lowest
    *   the lowest time of the rows
    * @param rows
    *   the number of rows
    */
  def pass(lowest: Long, rows: Long): Unit = late.pass(lowest, rows)

  /** Counts a row that is on time. */
  def passRow(micros: Long, row: UnsafeRow): Unit = {
    if (disorder != null) countDisorder(micros, row)
    late.pass(micros)
  }

  // A row is late with the lags that are shorter than its disorder.
  private def countDisorder(micros: Long, row: UnsafeRow): Unit = {
    val top = reached()
    val lateFrom = windows.lateFrom(micros, gaps.map(_.of(row)))
    if (top != Long.MinValue && lateFrom <= top) disorder.add(top - lateFrom + 1)
  }

  /** Reports the counts while the task runs. */
  def reportSoFar(): Unit = late.reportSoFar()

  /** Counts a row that is in a window although it has no time. */
  def passWithoutTime(): Unit = late.pass(lowest = Long.MaxValue, rows = 1)

  /** Logs a row that is late by the watermark of its key. */
  def add(micros: Long, row: UnsafeRow): Unit = {
    if (disorder != null) countDisorder(micros, row)
    add(micros, row, reason)
  }

  // Without a gap it is not known where the row's session would be.
  private def addWithoutGap(micros: Long, row: UnsafeRow): Unit = {
    late.judgedBy(watermark())
    late.add(toLog(row), LateReason.BadGap, micros, windowsMissed = None)
  }

  private def addWithoutTime(row: UnsafeRow): Unit = {
    late.judgedBy(watermark())
    late.addWithoutTime(toLog(row))
  }

  private def add(micros: Long, row: UnsafeRow, why: LateReason): Unit = {
    late.judgedBy(watermark())
    late.add(toLog(row), why, micros, windows.windowsOf(micros))
  }
}

private[operators] object KeyedLateRows {

  /** Whether the row's time is not null and in this range. */
  def hasTime(micros: Long, row: UnsafeRow, timeAt: Int, times: TimeRange): Boolean =
    !row.isNullAt(timeAt) && times.contains(micros)
}
