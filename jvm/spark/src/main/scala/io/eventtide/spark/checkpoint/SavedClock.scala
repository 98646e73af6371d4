package io.eventtide.spark.checkpoint

/** The durable state of a query's clock.
  *
  * @param lastMicros
  *   the time of the last batch by the query's clock; None before the first batch
  * @param aheadMicros
  *   the offset from the machine's clock: the total amount by which that clock was set back
  * @param steps
  *   the number of times that the machine's clock was set back
  */
private[spark] final case class SavedClock(
    lastMicros: Option[Long],
    aheadMicros: Long,
    steps: Int
)

private[spark] object SavedClock {
  val None: SavedClock = SavedClock(Option.empty, aheadMicros = 0, steps = 0)
}
