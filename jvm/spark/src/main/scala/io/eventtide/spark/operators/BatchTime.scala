package io.eventtide.spark.operators

import io.eventtide.spark.latelog.LateLog

/** The timing of one batch, for an operator that checks lateness per key; times in microseconds.
  *
  * @param clock
  *   the query's clock
  * @param ahead
  *   the lead of the query's clock over the batch's timestamp, which limits future rows
  * @param watermark
  *   the query's watermark
  * @param log
  *   the log for late rows; None if no row is late
  * @param closesAll
  *   whether every window closes, regardless of its time
  * @param lag
  *   the lag of the keys' watermarks that the query has learnt; None without a late target
  * @param isPeek
  *   whether the batch only shows the present state: each window once, regardless of its triggers
  */
private[spark] final case class BatchTime(
    clock: TaskClock,
    ahead: Long,
    watermark: TaskWatermark,
    log: Option[LateLog],
    closesAll: Boolean,
    lag: Option[Long] = None,
    isPeek: Boolean = false
) {

  def before: Option[Long] = watermark.before
  def after: Option[Long] = watermark.after

  /** The time by the query's clock: the same in the whole batch, except in real-time mode. */
  def now: Long = clock.now

  /** Whether elapsed processing time counts for idleness and policies. */
  def isCredited: Boolean = clock.isCredited

  /** The time by the machine's clock. */
  def timestamp: Long = now - ahead

  /** The machine's clock in real-time mode; None in a batch with one time. */
  def runningTimestamp: Option[() => Long] = clock match {
    case _: TaskClock.Running => Some(() => timestamp)
    case _ => None
  }
}

private[spark] object BatchTime {

  /** For operators that have read all rows, and for reads that keep no state. */
  val EndOfInput: BatchTime =
    BatchTime(
      TaskClock.OfBatch(0, isCredited = false),
      ahead = 0,
      TaskWatermark.None,
      log = None,
      closesAll = true
    )
}
