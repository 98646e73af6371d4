package io.eventtide.spark.operators

import io.eventtide.spark.latelog.LateLog

/** One batch for an operator that judges rows by their keys; times in microseconds.
  *
  * @param now
  *   the batch's time by the query's clock
  * @param ahead
  *   how far that is ahead of the batch's timestamp, which is the time that rows may have
  * @param before
  *   the query's watermark by which rows are late; None while there is none
  * @param after
  *   the query's watermark by which windows close
  * @param isCredited
  *   whether the time that has passed counts
  * @param log
  *   where late rows go; None where no row is late
  * @param endsAll
  *   whether every window closes, whatever its time
  * @param isShown
  *   whether that is to show what there is: each window once, whatever its triggers
  */
private[operators] final case class BatchTime(
    now: Long,
    ahead: Long,
    before: Option[Long],
    after: Option[Long],
    isCredited: Boolean,
    log: Option[LateLog],
    closesAll: Boolean,
    isPeek: Boolean = false
) {
  def timestamp: Long = now - ahead
}

private[operators] object BatchTime {

  /** Where all rows have been seen, or nothing is kept of what is given. */
  val EndOfInput: BatchTime =
    BatchTime(now = 0, ahead = 0, None, None, isCredited = false, log = None, closesAll = true)
}
