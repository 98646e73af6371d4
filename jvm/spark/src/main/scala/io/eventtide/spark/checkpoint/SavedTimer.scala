package io.eventtide.spark.checkpoint

import io.eventtide.spark.spi.NextTimer

/** The next timers of a window, as the ledger keeps them.
  *
  * @param timingOptions
  *   the timing options with which the timers were set, as `WindowSettings.timingOptions`
  * @param nextBatchOptions
  *   the options with which the next batch begins, as `MutableOptionsCodec` writes them
  */
private[spark] final case class SavedTimer(
    next: NextTimer,
    timingOptions: String,
    nextBatchOptions: String
)
