package io.eventtide.spark.query

import io.eventtide.spark.exec.NextTimer

/** What a window owes next.
  *
  * @param rules
  *   by which it does, as `WindowSettings.rules`
  * @param begins
  *   by which the next batch is begun, as `WindowSettings.choices`; empty where it is not known
  */
private[query] final case class SavedTimer(next: NextTimer, rules: String, begins: String)
