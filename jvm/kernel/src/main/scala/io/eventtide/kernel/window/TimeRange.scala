package io.eventtide.kernel.window

/** The times from `lowest` to `highest`, both of them included; none where `lowest` is the higher one.
  *
  *   - '''Units:''' those of event times.
  */
final case class TimeRange(lowest: Long, highest: Long)

object TimeRange {

  /** The first number from `from` to `until` at which a condition holds that holds from there on;
    * `until` where it holds at none before.
    */
  @scala.annotation.tailrec
  private[kernel] def first(from: Long, until: Long)(holds: Long => Boolean): Long =
    if (from >= until) until
    else {
      val middle = from + (until - from) / 2
      if (holds(middle)) first(from, middle)(holds) else first(middle + 1, until)(holds)
    }
}
