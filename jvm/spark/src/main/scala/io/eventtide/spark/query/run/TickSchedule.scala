package io.eventtide.spark.query.run

/** When the clock may next ask for a batch.
  *
  * Spark polls every few milliseconds while a query is idle, so what is due next is worked out once
  * and kept until something changes it.
  */
private[query] final class TickSchedule {
  private var lastPlanned: Option[Long] = None
  private var tickedBefore = false
  private var next: Option[Option[Long]] = None // outer None: to be worked out

  /** Whether a batch was planned since this was last asked. */
  def batchSince(planned: Option[Long]): Boolean = {
    val changed = planned != lastPlanned
    if (!changed) tickedBefore = false
    lastPlanned = planned
    changed
  }

  /** Not straight after a tick, if somebody waits for a trigger that finds nothing to do. */
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

  /** Spark's watermark is held by something else: look again in a second. */
  def postpone(now: Long): Unit = next = Some(Some(now + 1000000L))

  def reschedule(): Unit = next = None
}
