package io.eventtide.kernel.watermark

/** How substreams would be at a clock value to come, without rows.
  *
  * @param isIdle whether no substream would be active
  * @param emitted what the throttle would have let through; none while nothing
  */
final case class LookedAhead(isIdle: Boolean, emitted: Option[Long])
