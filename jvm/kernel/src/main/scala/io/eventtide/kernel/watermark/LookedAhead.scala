package io.eventtide.kernel.watermark

/** The state of the substreams at a later clock value, if no rows come.
  *
  * @param isIdle whether no substream would be active
  * @param emitted watermark that the throttle would have emitted; None before the first emission
  */
final case class LookedAhead(isIdle: Boolean, emitted: Option[Long])
