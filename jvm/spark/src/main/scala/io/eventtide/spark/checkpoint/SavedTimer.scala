package io.eventtide.spark.checkpoint

import io.eventtide.spark.spi.NextTimer

/** What a window owes next.
  *
  * @param rules
  *   by which it does, as `WindowSettings.rules`
  * @param begins
  *   by which the next batch is begun, as `WindowSettings.choices`; empty where it is not known
  */
private[spark] final case class SavedTimer(next: NextTimer, rules: String, begins: String)
