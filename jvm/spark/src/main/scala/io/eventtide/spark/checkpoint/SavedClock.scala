package io.eventtide.spark.checkpoint

/** What is durable of a query's clock.
  *
  * @param lastMicros
  *   what the query's clock showed for the last batch; None before the first
  * @param aheadMicros
  *   how far it is ahead of the machine's, since that one was set back
  * @param steps
  *   how often that was
  */
private[spark] final case class SavedClock(
    lastMicros: Option[Long],
    aheadMicros: Long,
    steps: Int
)

private[spark] object SavedClock {
  val None: SavedClock = SavedClock(Option.empty, aheadMicros = 0, steps = 0)
}
