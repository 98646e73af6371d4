package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.{Clamped, Frame}

/** The rules by which a key is idle, and by which an empty key is retained.
  *
  *   - '''Units:''' the unit of the clock that measures idleness.
  *
  * @param timeout time without a row after which a key emits all its windows; None for never
  * @param ttl time from its last row after which a key without windows is removed
  * @param inEventTime whether the watermark over all keys measures idleness, instead of the clock
  */
final case class KeyIdleness(timeout: Option[Long], ttl: Long, inEventTime: Boolean = false) {
  timeout.filter(_ <= 0).foreach { value =>
    throw new InvalidArgument("idle timeout", value, "more than zero")
  }
  if (ttl < 0) throw new InvalidArgument("key ttl", ttl, "zero or more")

  // Rounds the removal time up, so that it need not be saved again with each row.
  private val steps = Frame(math.max(1, ttl / 16))

  /** Whether a key without windows is removed at `now`, if its last row was at `lastRow`. */
  def isExpired(lastRow: Long, now: Long): Boolean = now >= Clamped.add(lastRow, ttl)

  /** The timer for the removal of a key without windows. */
  def expiresAt(lastRow: Long): Long = steps.ceiling(Clamped.add(lastRow, ttl))
}
