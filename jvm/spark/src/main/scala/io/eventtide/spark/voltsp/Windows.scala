package io.eventtide.spark.voltsp

/** VoltSP's windows, with VoltSP's names. Each method begins a window, and `VoltSPWindow.over`
  * completes it.
  *
  * {{{
  *   val hourly = Windows
  *     .tumblingTimeWindow()
  *     .withWindowSpan("1h")
  *     .withKeyExtractor("user_id")
  *     .withTimeConfigBuilder(_.withEventTimeExtractor("ts").withIdleTimeout("5m"))
  *     .withAggregateDefinition(_.count().sum("total", "amount"))
  *     .emit(WindowTrigger.atWindowEnd)
  *   hourly.over(events).results
  * }}}
  */
object Windows {

  /** Begins adjacent windows, which require a span. */
  def tumblingTimeWindow(): VoltSPWindow = new VoltSPWindow(WindowKinds.TumblingTime)

  /** Begins overlapping windows, which require a span and a slide. */
  def slidingTimeWindow(): VoltSPWindow = new VoltSPWindow(WindowKinds.SlidingTime)

  /** Begins sessions, which require an idle timeout as their gap. */
  def sessionWindow(): VoltSPWindow = new VoltSPWindow(WindowKinds.Session)

  /** Begins adjacent count windows, which require a span in rows. */
  def tumblingCountWindow(): VoltSPWindow = new VoltSPWindow(WindowKinds.TumblingCount)

  /** Begins overlapping count windows, which require a span and a slide in rows. */
  def slidingCountWindow(): VoltSPWindow = new VoltSPWindow(WindowKinds.SlidingCount)
}

/** VoltSP's kinds of windows. */
private[voltsp] object WindowKinds {

  /** @param slides
    *   whether the windows overlap
    */
  sealed abstract class Kind(val name: String, val isCounted: Boolean, val slides: Boolean)

  case object TumblingTime extends Kind("tumbling_time_window", false, false)
  case object SlidingTime extends Kind("sliding_time_window", false, true)
  case object Session extends Kind("session_window", false, false)
  case object TumblingCount extends Kind("tumbling_count_window", true, false)
  case object SlidingCount extends Kind("sliding_count_window", true, true)
}
