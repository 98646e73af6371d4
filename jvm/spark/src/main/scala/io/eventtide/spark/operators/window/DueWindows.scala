package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.spark.state.TimerIndex

/** The keys whose windows the watermark closes, each time that it has moved.
  *
  * @param emitted
  *   the limit up to which all windows had been emitted before the batch
  */
private[window] final class DueWindows(
    task: WindowTaskSpec,
    index: TimerIndex,
    windows: KeyedWindowOperator,
    emitted: Long
) extends Iterator[UnsafeRow] {
  private val timers = new ExpiredTimers(index)
  private var reached = emitted

  override def hasNext: Boolean = task.closing > reached && {
    val found = timers.hasNext(task.closing)
    if (!found) {
      reached = task.closing
      windows.emittedUpTo(reached)
    }
    found
  }

  override def next(): UnsafeRow = timers.next()
}
