package io.eventtide.spark.query.run

/** Whether the clock is still held back after a start: `on_restart = hold_until_caught_up`.
  *
  * While the sources have a backlog, time has passed that their rows do not show yet; crediting it
  * would make them late merely because the query was down, or was not there yet. The hold ends when a
  * trigger finds nothing to do, or when the last batch took all that its sources had.
  */
private[query] final class RestartHold(holdsOnRestart: Boolean) {
  private var held = holdsOnRestart
  private var looking = false

  def holding: Boolean = held

  /** A batch that was begun before the start is run again, as it was then. */
  def rerun(wasHeld: Boolean): Unit = held = wasHeld

  /** The sources are known to have no more. */
  def end(): Unit = held = false

  /** Notes that Spark looks for new data; true when the hold has just ended.
    *
    * @param batchSince
    *   a batch was planned since it last looked
    * @param tookAll
    *   the last batch took all that its sources had; they may not be able to say
    */
  def look(batchSince: Boolean, tookAll: => Boolean): Boolean =
    if (looking) {
      val over = held && (!batchSince || tookAll)
      if (over) held = false
      over
    } else {
      looking = true
      held = holdsOnRestart // also after a batch that was run again
      false
    }
}
