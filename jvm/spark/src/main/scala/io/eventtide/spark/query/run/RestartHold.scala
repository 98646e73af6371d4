package io.eventtide.spark.query.run

/** Whether the clock is still held after a start: `on_restart = hold_until_caught_up`.
  *
  * While the sources have a backlog, the rows read so far are behind the elapsed time. Crediting
  * that time would make rows late only because the query was down, or did not exist yet. The hold
  * ends when a trigger finds no work, or when the last batch took all available data.
  */
private[query] final class RestartHold(holdsOnRestart: Boolean) {
  private var active = holdsOnRestart
  private var hasPolled = false

  def isHolding: Boolean = active

  /** Restores the hold of a replayed batch as it was when the batch began. */
  def replay(wasHolding: Boolean): Unit = active = wasHolding

  /** Ends the hold: the sources are known to have no more data. */
  def end(): Unit = active = false

  /** Records that Spark looks for new data. Returns true if the hold has just ended.
    *
    * @param batchSince
    *   whether a batch was planned since Spark last looked
    * @param tookAll
    *   whether the last batch took all available data; false if the sources cannot report it
    */
  def poll(batchSince: Boolean, tookAll: => Boolean): Boolean =
    if (hasPolled) {
      val hasEnded = active && (!batchSince || tookAll)
      if (hasEnded) active = false
      hasEnded
    } else {
      hasPolled = true
      active = holdsOnRestart // also after a replayed batch
      false
    }
}
