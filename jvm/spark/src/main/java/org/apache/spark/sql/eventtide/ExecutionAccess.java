package org.apache.spark.sql.eventtide;

import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;

/** Reads fields that Scala calls protected and the JVM public; in Java it needs no reflection. */
final class ExecutionAccess {
  private ExecutionAccess() {}

  static WatermarkTracker tracker(MicroBatchExecution execution) {
    return execution.watermarkTracker();
  }

  /**
   * Whether a caller waits until the query has no more work. Spark holds the lock whenever it looks
   * for new data.
   */
  static boolean isAwaited(StreamExecution execution) {
    return execution.awaitProgressLock().isHeldByCurrentThread()
        && execution.awaitProgressLock().hasWaiters(execution.awaitProgressLockCondition());
  }
}
