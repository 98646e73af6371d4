package io.eventtide.spark.checkpoint

import io.eventtide.spark.spi.NextTimer

/** The next timers of a window, as the ledger keeps them.
  *
  * @param rules
  *   the timing options with which the timers were set, as `WindowSettings.rules`
  * @param begins
  *   the options with which the next batch begins, as `WindowSettings.choices`
  */
private[spark] final case class SavedTimer(next: NextTimer, rules: String, begins: String)
