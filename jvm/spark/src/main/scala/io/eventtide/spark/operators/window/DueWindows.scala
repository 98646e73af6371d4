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
  private val noKeys = new KeyIdBitmap
  private var reached = emitted
  private var due: DueKeyIterator = _ // null while there is none

  override def hasNext: Boolean = {
    if (due == null && task.closing > reached) begin()
    val found = due != null && due.hasNext
    if (due != null && !found) end()
    found
  }

  override def next(): UnsafeRow = due.next()

  private def begin(): Unit = {
    reached = task.closing
    if (index.lowest <= reached) due = new DueKeyIterator(index, reached, noKeys)
    else windows.emittedUpTo(reached)
  }

  private def end(): Unit = {
    due.close()
    due = null
    index.beginAt(index.head)
    windows.emittedUpTo(reached)
  }
}
