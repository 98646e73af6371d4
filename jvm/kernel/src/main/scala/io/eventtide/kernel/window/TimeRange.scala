package io.eventtide.kernel.window

/** The times from `lowest` to `highest`, inclusive; empty if `lowest` is above `highest`.
  *
  *   - '''Units:''' the unit of event time.
  */
final case class TimeRange(lowest: Long, highest: Long) {
  def contains(time: Long): Boolean = time >= lowest && time <= highest
}

object TimeRange {

  /** The first number in `[from, until)` for which `holds` is true; `until` if there is none. Once
    * `holds` is true, it must be true for all higher numbers.
    */
  @scala.annotation.tailrec
  private[kernel] def first(from: Long, until: Long)(holds: Long => Boolean): Long =
    if (from >= until) until
    else {
      val middle = from + (until - from) / 2
      if (holds(middle)) first(from, middle)(holds) else first(middle + 1, until)(holds)
    }
}
