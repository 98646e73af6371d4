package io.eventtide.spark.query

/** Whether the clock is still held back after a start: `on_restart = hold_until_caught_up`.
  *
  * While the sources have a backlog, time has passed that their rows do not show yet; crediting it
  * would make them late merely because the query was down, or was not there yet. The hold ends when a
  * trigger finds nothing to do, or when the last batch took all that its sources had.
  */
private[query] final class CatchUp(holdsOnRestart: Boolean) {
  private var held = holdsOnRestart
  private var polled = false

  def holding: Boolean = held

  /** A batch that was begun before the restart is run again as it was then. */
  def restarted(wasHeld: Boolean, runsAgain: Boolean): Unit =
    held = holdsOnRestart && (wasHeld || !runsAgain)

  /** The sources are known to have no more. */
  def end(): Unit = held = false

  /** Notes that Spark looks for new data; true when the hold has just ended.
    *
    * @param batchSince
    *   a batch was planned since the poll before
    * @param tookAll
    *   the last batch took all that its sources had; they may not be able to say
    */
  def poll(batchSince: Boolean, tookAll: => Boolean): Boolean = {
    if (!polled && batchSince) held = holdsOnRestart // a batch was run again: now catch up
    val over = held && polled && (!batchSince || tookAll)
    if (over) held = false
    polled = true
    over
  }
}
