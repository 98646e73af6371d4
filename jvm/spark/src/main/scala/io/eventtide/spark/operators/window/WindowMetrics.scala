package io.eventtide.spark.operators.window

import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.spark.spi.{NextTimer, PartitionAccum, TaskInputState}

/** The metrics that tasks report; sent to the executors, where one task may have several
  * partitions.
  */
private[window] final class WindowMetrics(
    outputRows: SQLMetric,
    updatedRows: SQLMetric,
    removedRows: SQLMetric,
    commitMs: SQLMetric,
    due: PartitionAccum[NextTimer],
    bounds: PartitionAccum[Array[Long]],
    inputs: Option[PartitionAccum[TaskInputState]],
    reportState: (StateStore, Long) => Unit
) extends Serializable {

  /** Commits the state of a partition; reports the counts and the next timers. */
  def commit(
      store: StateStore,
      counts: WindowCounts,
      next: NextTimer,
      boundsNow: Option[Array[Long]]
  ): Unit = {
    report(store.id.partitionId, counts, next)
    boundsNow.foreach(now => bounds.add(store.id.partitionId -> now))
    val start = System.nanoTime
    store.commit(): Unit
    commitMs += (System.nanoTime - start) / 1000000
    reportState(store, next.keys)
  }

  /** Reports the state of the query's policies. */
  def report(partition: Int, state: TaskInputState): Unit =
    inputs.foreach(_.add(partition -> state))

  /** Reports the counts since the last call, and the next timers. */
  def report(partition: Int, counts: WindowCounts, next: NextTimer): Unit = {
    due.add(partition -> next)
    outputRows += counts.results
    updatedRows += counts.updated
    removedRows += counts.removed
    counts.reset()
  }
}

/** Counts of one partition since the last report: output rows, and keys whose state was written or removed. */
private[window] final class WindowCounts {
  var results = 0L
  var updated = 0L
  var removed = 0L

  def reset(): Unit = {
    results = 0
    updated = 0
    removed = 0
  }
}
