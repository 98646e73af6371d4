package io.eventtide.spark.query.run

import io.eventtide.kernel.time.Clamped
import io.eventtide.spark.checkpoint.SavedClock

/** The clock by which a query measures durations: the machine's clock, but monotonic.
  *
  * If the machine's clock is set back, measured durations are kept, and continue from the machine's
  * new time. From then on, this clock is ahead of the machine's clock by the size of the step.
  *
  *   - '''Guarantee:''' the clock's time for a batch is a function of the last ledger entry and the
  *     batch's timestamp.
  *   - '''Units:''' microseconds; `nowMicros` is the time by the machine's clock.
  *   - '''Edges:''' a step is measured from the last batch, not from the last check, so a clock
  *     that ran ahead between two batches changes nothing. A step back of a second or less is
  *     jitter: time stands still until the machine's clock has caught up.
  *   - '''Restart:''' `saved` and `restore`.
  */
private[query] final class QueryClock {
  private var state = SavedClock.None

  /** The state to save for a restart. */
  def saved: SavedClock = state

  def restore(saved: SavedClock): Unit = state = saved

  /** The time by this clock. */
  def at(nowMicros: Long): Long = Clamped.add(nowMicros, state.aheadMicros)

  /** The time since the last batch, by this clock; None before the first batch. */
  def sinceLast(nowMicros: Long): Option[Long] =
    state.lastMicros.map(Clamped.subtract(at(nowMicros), _))

  /** Compares the clock with the machine's. If the machine's clock was set back, returns the
    * distance.
    */
  def correct(nowMicros: Long): Option[Long] = {
    val back = state.lastMicros.map(Clamped.subtract(_, at(nowMicros)))
    val step = back.filter(_ > QueryClock.JitterMicros)
    step.foreach { by =>
      state = state.copy(
        aheadMicros = Clamped.add(state.aheadMicros, by),
        steps = state.steps + 1
      )
    }
    step
  }

  /** Records that a duration was measured at this time of this clock. */
  def passed(clockMicros: Long): Unit =
    state = state.copy(lastMicros = Some(state.lastMicros.fold(clockMicros)(_ max clockMicros)))
}

private[query] object QueryClock {

  /** Regular clock adjustments are smaller than this. */
  private val JitterMicros = 1000000L
}
