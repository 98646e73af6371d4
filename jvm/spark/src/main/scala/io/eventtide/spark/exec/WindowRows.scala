package io.eventtide.spark.exec

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.spark.state.FrameStore

/** Works through one partition, a key at a time, and gives the rows of what closes.
  *
  * First the keys that have rows, which come sorted: each takes them in, gives what is due, and is
  * saved. Then those that only owe results, which the index names. The state is committed when the
  * last row has been taken.
  */
private[exec] final class WindowRows(
    task: WindowTask,
    store: StateStore,
    input: Iterator[InternalRow],
    metrics: WindowMetrics
) extends Iterator[InternalRow] {
  private val calls = task.plan.newCalls
  private val buffers = task.plan.newBuffers(calls)
  task.families.create(store)
  private val state = new FrameStore(store, task.families, task.batchId)
  private val results = new ResultRows(task.plan, calls)

  private val ring = task.plan.newRing(buffers, state, WindowRows.BlockSize)
  private val rows = new KeyedRows(input, task.input, task.plan.keys.length)
  private val touched = mutable.LongMap.empty[Unit]
  private lazy val due = new DueKeys(state, task.closing, touched)

  private var key: UnsafeRow = _ // whose windows are being given; null between keys
  private var isNew = false
  private var found = false
  private var committed = false

  def hasNext: Boolean = {
    while (!found && !committed) advance()
    found
  }

  def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    found = false
    metrics.results += 1
    results.row(key, ring.end, buffers.row(ring.result))
  }

  private def advance(): Unit =
    if (key != null) {
      found = ring.next(task.closing)
      if (!found) leaveKey()
    } else if (rows.hasNext) takeRows()
    else if (task.closing > task.passed && due.hasNext) openKey(due.next())
    else commit()

  private def takeRows(): Unit = {
    openKey(rows.nextKey())
    touched(state.keyId) = ()
    while (rows.isSameKey) {
      if (!ring.add(rows.frame, buffers.input(rows.buffer)))
        throw new IllegalStateException(s"a late row has passed: frame ${rows.frame}")
      rows.advance()
    }
  }

  private def openKey(opened: UnsafeRow): Unit = {
    key = opened
    buffers.reset()
    isNew = !state.open(key)
    if (isNew) ring.begin(task.passed) else state.load(ring)
    ring.skipTo(task.passed)
  }

  private def leaveKey(): Unit = {
    if (!ring.isEmpty) {
      state.save(ring, task.closing)
      metrics.updated += 1
    } else if (!isNew) {
      state.drop()
      metrics.removed += 1
    }
    key = null
  }

  private def commit(): Unit = {
    if (task.closing > task.passed) due.close()
    metrics.commit(store, state.earliestDue(task.closing))
    committed = true
  }
}

private object WindowRows {

  /** Closed frames in a ring before some of them become a block; see docs/decisions.md. */
  private val BlockSize = 16
}
