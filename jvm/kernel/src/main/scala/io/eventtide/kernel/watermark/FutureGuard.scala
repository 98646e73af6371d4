package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** Decides what becomes of an event whose time is too far ahead of the clock.
  *
  *   - '''Guarantee:''' a pure decision on `(now, ts)`; it remembers nothing and allocates nothing.
  *   - '''Units:''' event time is the clock's time: one unit, one epoch.
  *   - '''Edges:''' exactly `maxAhead` ahead is still accepted; the limit clamps at the range's
  *     end.
  *   - '''Restart:''' nothing to save.
  *   - '''Source:''' ours: one absurd timestamp must not drag the watermark into the future.
  *
  * @param maxAhead how far ahead of the clock is accepted, zero or more
  * @param mode what becomes of an event further ahead
  */
final case class FutureGuard(maxAhead: Long, mode: FutureGuard.Mode) {
  FutureGuard.MaxAhead.check(maxAhead)

  /** The highest event time accepted at `now`; what `Clamp` uses instead of a higher one. */
  def limit(now: Long): Long = Clamped.add(now, maxAhead)

  def decide(now: Long, ts: Long): FutureGuard.Decision =
    if (ts <= limit(now)) FutureGuard.Accept else mode

  override def toString: String =
    s"${FutureGuard.name}(${FutureGuard.MaxAhead.name}=$maxAhead, on=${mode.name})"
}

object FutureGuard {
  val name: String = "guard_future"

  val MaxAhead: ParamSpec =
    ParamSpec.duration("max_ahead", "how far ahead of the clock an event may be")

  /** What becomes of an event. */
  sealed trait Decision

  /** It is taken as it is. */
  case object Accept extends Decision

  /** What becomes of an event that is too far ahead. */
  sealed abstract class Mode(val name: String) extends Decision

  /** It is taken with its own time, but counts for the watermark as if it had the limit's. */
  case object Clamp extends Mode("clamp")

  /** It goes to the late log. */
  case object Late extends Mode("late")

  /** The query fails. */
  case object Fail extends Mode("fail")

  val modes: Seq[Mode] = Seq(Clamp, Late, Fail)

  /** The mode of that name; an unknown name is refused with those that there are. */
  def mode(name: String): Mode = modes.find(_.name == name).getOrElse {
    throw new InvalidArgument("on", name, ParamValues.oneOf(modes.map(_.name)))
  }
}
