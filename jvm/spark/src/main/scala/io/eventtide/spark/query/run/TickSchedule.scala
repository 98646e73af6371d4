package io.eventtide.spark.query.run

/** When the clock may next request a batch.
  *
  * Spark polls every few milliseconds while a query is idle. So the next deadline is computed once
  * and cached until something changes it.
  */
private[query] final class TickSchedule {
  private var lastPlanned: Option[Long] = None
  private var tickedBefore = false
  private var next: Option[Option[Long]] = None // outer None: not computed yet

  /** Whether a batch was planned since the last call. */
  def batchSince(planned: Option[Long]): Boolean = {
    val changed = planned != lastPlanned
    if (!changed) tickedBefore = false
    lastPlanned = planned
    changed
  }

  /** Whether the clock may tick. If a caller awaits a trigger without work, it may not tick
    * immediately after a tick.
    */
  def mayTick(isAwaited: Boolean): Boolean = {
    val may = !(tickedBefore && isAwaited)
    tickedBefore = false
    may
  }

  def due(now: Long)(workOut: => Option[Long]): Boolean = {
    if (next.isEmpty) next = Some(workOut)
    next.flatten.exists(now >= _)
  }

  def ticked(): Unit = { tickedBefore = true; next = None }

  /** Checks again in a second, because something else delays Spark's watermark. */
  def postpone(now: Long): Unit = next = Some(Some(now + 1000000L))

  def reschedule(): Unit = next = None
}
