package io.eventtide.spark.operators

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.kernel.window.TimeRange

/** The event times that a batch accepts: the valid times, up to the limit of a guard against future
  * rows. Lateness depends on a watermark and is not judged here.
  *
  *   - '''Units:''' microseconds.
  *
  * @param valid
  *   the valid event times; a row with another time has no usable event time
  * @param latest
  *   the highest accepted time; a valid time above it is from the future
  */
private[spark] final case class AcceptedTimes(valid: TimeRange, latest: Long) {

  /** The lowest accepted time. */
  def earliest: Long = valid.lowest

  /** Whether a valid time is from the future. */
  def isFuture(time: Long): Boolean = time > latest
}

private[spark] object AcceptedTimes {

  /** @param nowMicros
    *   the batch's timestamp, to which the guard's limit is relative; None in a plan that does not run
    *   as a streaming batch
    */
  def apply(
      valid: TimeRange,
      guard: Option[FutureGuard],
      nowMicros: Option[Long]
  ): AcceptedTimes = {
    val limit = for { now <- nowMicros; limited <- guard } yield limited.limit(now)
    new AcceptedTimes(valid, limit.fold(valid.highest)(math.min(_, valid.highest)))
  }
}
