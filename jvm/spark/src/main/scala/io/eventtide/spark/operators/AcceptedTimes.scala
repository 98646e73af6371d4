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
  * @param limit
  *   the highest accepted time at the start
  * @param moving
  *   the highest accepted time now, in a batch that lasts for minutes
  */
private[spark] final class AcceptedTimes private (
    val valid: TimeRange,
    limit: Long,
    moving: Option[() => Long]
) extends Serializable {
  private var highest = limit

  /** The lowest accepted time. */
  def earliest: Long = valid.lowest

  /** The highest accepted time so far; a valid time above it is from the future, see `isFuture`. */
  def latest: Long = highest

  /** Whether a valid time is from the future. Only a time above `latest` reads the clock. */
  def isFuture(time: Long): Boolean = time > highest && {
    moving.foreach(now => highest = math.max(highest, now()))
    time > highest
  }
}

private[spark] object AcceptedTimes {

  /** @param nowMicros
    *   the batch's timestamp, to which the guard's limit is relative; None in a plan that does not run
    *   as a streaming batch
    * @param running
    *   the machine's clock in real-time mode, in microseconds, which the guard's limit follows
    */
  def apply(
      valid: TimeRange,
      guard: Option[FutureGuard],
      nowMicros: Option[Long],
      running: Option[() => Long] = None
  ): AcceptedTimes = {
    def limit(guard: FutureGuard, now: Long) = math.min(guard.limit(now), valid.highest)
    val first = for { now <- nowMicros; limited <- guard } yield limit(limited, now)
    val moving = for { now <- running; limited <- guard } yield () => limit(limited, now())
    new AcceptedTimes(valid, first.getOrElse(valid.highest), moving)
  }
}
