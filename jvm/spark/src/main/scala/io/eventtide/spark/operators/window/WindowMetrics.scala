package io.eventtide.spark.operators.window

import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.spark.spi.{NextTimer, PartitionAccum}

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
    report: (StateStore, Long) => Unit
) extends Serializable {

  /** Commits the state of a partition; reports the counts and the next timers. */
  def commit(
      store: StateStore,
      counts: WindowCounts,
      next: NextTimer,
      boundsNow: Option[Array[Long]]
  ): Unit = {
    due.add(store.id.partitionId -> next)
    boundsNow.foreach(now => bounds.add(store.id.partitionId -> now))
    outputRows += counts.results
    updatedRows += counts.updated
    removedRows += counts.removed
    val start = System.nanoTime
    store.commit(): Unit
    commitMs += (System.nanoTime - start) / 1000000
    report(store, next.keys)
  }
}

/** Counts of one partition: output rows, and keys whose state was written or removed. */
private[window] final class WindowCounts {
  var results = 0L
  var updated = 0L
  var removed = 0L
}
