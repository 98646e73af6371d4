package org.apache.spark.sql.eventtide;

import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;

/** Reads a field that Scala calls protected and the JVM public; in Java it needs no reflection. */
final class TrackerAccess {
  private TrackerAccess() {}

  static WatermarkTracker tracker(MicroBatchExecution execution) {
    return execution.watermarkTracker();
  }
}
