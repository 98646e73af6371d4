package io.eventtide.spark.operators.window

import org.apache.spark.sql.eventtide.TimedRows

import io.eventtide.spark.operators.RunningWatermark
import io.eventtide.spark.spi.TaskInputState

/** The query's watermark in a task of real-time mode, moved by the markers between the rows.
  *
  * @param column
  *   the ordinal of the column with the markers
  */
private[window] final class MarkedWatermark(
    task: WindowTaskSpec,
    watermark: RunningWatermark,
    input: TimedRows,
    column: Int
) {
  private val settings = task.spec.settings
  private def lateBelow(watermark: Long): Long =
    if (settings.isTimeWindow) settings.spec.lateBelow(watermark) else watermark

  /** Whether a marker is the next row, which has arrived. */
  def isNext: Boolean = input.hasNext && !input.upcoming.isNullAt(column)

  def take(): Unit = {
    val marker = input.next().getBinary(column)
    watermark.take(marker, task.batch.now, task.batch.isCredited, lateBelow)
  }

  /** Advances the watermark while no row arrives. */
  def advance(): Unit = if (task.batch.isCredited) watermark.advance(task.batch.now)

  def advancesAt: Long = watermark.advancesAt

  /** The state of the policies; the first partition reports it for all. */
  def state(partition: Int): TaskInputState =
    if (partition == 0) watermark.state else TaskInputState(watermark.current, Nil)
}
