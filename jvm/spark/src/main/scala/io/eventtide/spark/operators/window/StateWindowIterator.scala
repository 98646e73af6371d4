package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow}
import org.apache.spark.sql.execution.streaming.state.StateStore

/** The content of the windows that can still change, in one partition; nothing is saved.
  *
  * If keys have per-key watermarks, a last column has the key's watermark.
  */
private[window] final class StateWindowIterator(task: WindowTaskSpec, store: StateStore)
    extends KeyedWindowIterator(task.spec) {
  private val state = task.open(store)
  private val calls = task.spec.newCalls
  private val buffers = task.spec.newBuffers(calls)
  private val groups =
    SharedWatermarkGroups(task, state, task.openBounds(store.id.partitionId, state))
  new StateRewrite(task, store, state, calls, buffers).ifChanged(groups)
  protected val windows: KeyedWindowOperator = task.operator(state, calls, buffers, groups)
  private val entries = state.allKeys

  private val watermark = new GenericInternalRow(1)
  private val withWatermark = new JoinedRow

  override protected def current: InternalRow =
    if (!task.spec.settings.hasOwnTime) super.current
    else {
      watermark.update(0, windows.watermark.map(Long.box).orNull)
      withWatermark(super.current, watermark)
    }

  protected def openNext(): Boolean = {
    val more = entries.hasNext
    if (more) {
      select(entries.next().key.copy())
      buffers.reset()
      groups.foreach(_.select(key))
      state.open(key): Unit
      state.read(in => windows.read(in))
      windows.close()
    } else entries.close()
    more
  }

  protected def continueKey(): Boolean = false

  protected def leaveKey(): Unit = ()
}
