package io.eventtide.spark.query.run

import io.eventtide.kernel.time.Clamped
import io.eventtide.spark.checkpoint.SavedClock

/** The clock by which a query measures durations: that of the machine, but it never goes back.
  *
  * A machine's clock may be corrected. All that was measured before is kept then, and goes on from the
  * time that the machine shows now: from there on, this clock is ahead by what the other went back.
  *
  *   - '''Guarantee:''' what it says of a batch follows from the last entry of the ledger and the
  *     batch's own timestamp.
  *   - '''Units:''' microseconds; `now` is what the machine's clock shows.
  *   - '''Edges:''' it is compared with the last batch, not with the last look, so that a clock that
  *     ran ahead between two batches changes nothing. A step back of a second or less is jitter: time
  *     stands still until it is made up for.
  *   - '''Restart:''' `saved` and `restore`.
  */
private[query] final class QueryClock {
  private var state = SavedClock.None

  /** What has to be there after a restart. */
  def saved: SavedClock = state

  def restore(saved: SavedClock): Unit = state = saved

  /** What this clock shows. */
  def at(nowMicros: Long): Long = Clamped.add(nowMicros, state.aheadMicros)

  /** How long it is since the last batch, by the machine's clock; None before there was one. */
  def sinceLast(nowMicros: Long): Option[Long] =
    state.lastMicros.map(Clamped.subtract(at(nowMicros), _))

  /** Takes what the machine's clock shows; how far it was set back, if it was. */
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

  /** Something was measured at this time of this clock. */
  def passed(clockMicros: Long): Unit =
    state = state.copy(lastMicros = Some(state.lastMicros.fold(clockMicros)(_ max clockMicros)))
}

private[query] object QueryClock {

  /** Clocks are adjusted by less than this every now and then. */
  private val JitterMicros = 1000000L
}
