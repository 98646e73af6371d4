package io.eventtide.spark.options

import io.eventtide.kernel.window.TimeRange

/** The valid event times, in microseconds. */
private[spark] object EventTimes {

  /** The event times that Spark can display: years 1 to 9999. */
  val All: TimeRange = TimeRange(-62135596800000000L, 253402300799999999L)

  /** The watermark of a drained query, in milliseconds: no row follows it. */
  val EndMs: Long = All.highest / 1000
}
