package io.eventtide.spark.options

import io.eventtide.kernel.window.TimeRange

/** The event times that there are, in microseconds. */
private[spark] object EventTimes {

  /** Those that Spark can show: years 1 to 9999. */
  val All: TimeRange = TimeRange(-62135596800000000L, 253402300799999999L)

  /** The watermark of a query that is drained, in milliseconds: no row comes after it. */
  val EndMs: Long = All.highest / 1000
}
