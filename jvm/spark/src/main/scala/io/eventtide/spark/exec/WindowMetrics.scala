package io.eventtide.spark.exec

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStore

/** Counts of one task, and what becomes of them when the state is committed. */
private[exec] final class WindowMetrics(
    outputRows: SQLMetric,
    updatedRows: SQLMetric,
    removedRows: SQLMetric,
    commitMs: SQLMetric,
    due: DueAccum,
    report: StateStore => Unit
) extends Serializable {
  var results = 0L
  var updated = 0L
  var removed = 0L

  def commit(store: StateStore, nextDue: NextDue): Unit = {
    due.add(TaskContext.getPartitionId() -> nextDue)
    outputRows += results
    updatedRows += updated
    removedRows += removed
    val start = System.nanoTime
    store.commit(): Unit
    commitMs += (System.nanoTime - start) / 1000000
    report(store)
  }
}
