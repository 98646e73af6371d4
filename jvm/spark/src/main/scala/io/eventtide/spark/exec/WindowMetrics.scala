package io.eventtide.spark.exec

import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStore

/** Counts of one task, and what becomes of them when the state is committed. */
private[exec] final class WindowMetrics(
    outputRows: SQLMetric,
    updatedRows: SQLMetric,
    removedRows: SQLMetric,
    commitMs: SQLMetric,
    report: StateStore => Unit
) {
  var results = 0L
  var updated = 0L
  var removed = 0L

  def commit(store: StateStore): Unit = {
    outputRows += results
    updatedRows += updated
    removedRows += removed
    val start = System.nanoTime
    store.commit(): Unit
    commitMs += (System.nanoTime - start) / 1000000
    report(store)
  }
}
