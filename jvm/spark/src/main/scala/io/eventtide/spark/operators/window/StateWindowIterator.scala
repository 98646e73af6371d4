package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.spark.operators.LookaheadIterator

/** The content of the open windows of one partition, as if all of them closed now; nothing is
  * saved.
  *
  * If keys have per-key watermarks, a last column has the key's watermark.
  */
private[window] final class StateWindowIterator(task: WindowTaskSpec, store: StateStore)
    extends LookaheadIterator[InternalRow] {
  private val state = task.open(store)
  private val calls = task.plan.newCalls
  private val buffers = task.plan.newBuffers(calls)
  private val groups =
    SharedWatermarkGroups(task, state, task.openBounds(store.id.partitionId, state))
  private val windows = KeyedWindowOperator(task, state, calls, buffers, groups)
  private val entries = store.iterator()
  private var key: UnsafeRow = _ // the key whose windows are being emitted; null before the first

  private val watermark = new GenericInternalRow(1)
  private val withWatermark = new JoinedRow

  protected def current: InternalRow =
    if (!task.plan.settings.hasOwnTime) windows.row(key)
    else {
      watermark.update(0, windows.watermark.map(Long.box).orNull)
      withWatermark(windows.row(key), watermark)
    }

  protected def advance(): Boolean = {
    var found = key != null && windows.next()
    while (!found && entries.hasNext) {
      openKey(entries.next().key.copy())
      found = windows.next()
    }
    if (!found) entries.close()
    found
  }

  private def openKey(opened: UnsafeRow): Unit = {
    key = opened
    buffers.reset()
    groups.foreach(_.select(key))
    state.open(key): Unit
    state.read(in => windows.read(in))
    windows.close()
  }
}
