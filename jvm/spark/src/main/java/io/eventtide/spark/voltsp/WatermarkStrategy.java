package io.eventtide.spark.voltsp;

/** The rule by which a watermark follows the rows of a batch. */
public enum WatermarkStrategy {
  /** Moves to the lowest event time of the batch, never back. This is the default. */
  MIN_EVENT_TIME,
  /** Moves to the highest event time of the batch, never back. */
  MAX_EVENT_TIME
}
