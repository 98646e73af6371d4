package io.eventtide.spark.voltsp;

/** The time that measures idleness. */
public enum TimeSource {
  /** The watermark over all keys. */
  EVENT_TIME,
  /** The wall clock. This is the default. */
  PROCESSING_TIME
}
