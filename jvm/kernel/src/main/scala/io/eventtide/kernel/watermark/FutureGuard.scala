package io.eventtide.kernel.watermark

import io.eventtide.kernel.time.Clamped

/** The limit for event times ahead of the clock, and how to handle an event above it.
  *
  *   - '''Units:''' event time is the clock's time: one unit, one epoch.
  *   - '''Edges:''' an event exactly `maxAhead` ahead is accepted; the limit is clamped at the end
  *     of the range.
  *   - '''Restart:''' nothing to save.
  *   - '''Source:''' Eventtide; one wrong timestamp must not move the watermark into the future.
  *
  * @param maxAhead largest accepted distance ahead of the clock, zero or more
  * @param mode handling of an event further ahead
  */
final case class FutureGuard(maxAhead: Long, mode: FutureGuard.Mode) {
  ParamSpec.duration("max_ahead", "how far ahead of the clock an event may be").check(maxAhead)

  /** The highest event time accepted at `now`; `Clamp` replaces a higher time by it. */
  def limit(now: Long): Long = Clamped.add(now, maxAhead)
}

object FutureGuard {
  val name: String = "guard_future"

  /** How to handle an event that is too far ahead. */
  sealed abstract class Mode(val name: String)

  /** The event keeps its time, but counts for the watermark as if it had the limit's time. */
  case object Clamp extends Mode("clamp")

  /** The event is written to the late log. */
  case object Late extends Mode("late")

  /** The query fails. */
  case object Fail extends Mode("fail")

  val modes: Seq[Mode] = Seq(Clamp, Late, Fail)
}
