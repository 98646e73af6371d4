package io.eventtide.spark.query.run

import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.Durations
import io.eventtide.spark.query.monitor.{ClockLimits, WatermarkMonitor}

/** Finds a machine's clock that goes forward by more than time has passed.
  *
  * A policy that follows the clock would go there for good. So its query ends before the next batch is
  * written down; what it has is right, and a start goes on from it.
  *
  *   - '''Guarantee:''' within a run the clock is compared with the monotonic one, from look to
  *     look. A start has nothing to compare with: time when the query was down is no step.
  *   - '''Edges:''' a machine that slept looks the same. A step back is not looked for here: see
  *     `QueryClock`.
  *
  * @param follows
  *   whether a policy of the query follows the clock
  */
private[query] final class ClockSteps(
    limits: ClockLimits,
    follows: Boolean,
    watch: WatermarkMonitor
) {
  private var last = Option.empty[(Long, Long)]
  private var doubts = false

  /** Whether the run has seen a clock that may be wrong: nothing is to be removed by its time. */
  def isDoubtful: Boolean = doubts

  /** Takes what the machine's clock shows, and time that nobody sets. */
  def look(nowMs: Long, elapsedMs: Long): Unit = {
    last.foreach { case (before, elapsedBefore) =>
      val passed = (elapsedMs - elapsedBefore) * 1000
      val step = (nowMs - before) * 1000 - passed
      if (step > limits.stepMicros) found(step)
    }
    last = Some((nowMs, elapsedMs))
  }

  private def found(step: Long): Unit =
    if (follows)
      throw EventtideException(
        "CLOCK_STEP",
        "step" -> Durations.inWords(step),
        "most" -> Durations.inWords(limits.stepMicros)
      )
    else {
      doubts = true
      watch.clockSetForward(step)
    }

  /** Takes how far the clock is from the last batch of a run before this one. */
  def lookAtStart(sinceMicros: Long): Unit = {
    limits.startMicros.filter(math.abs(sinceMicros) > _).foreach { most =>
      throw EventtideException(
        "CLOCK_STEP_AT_START",
        "far" -> ClockSteps.inWords(sinceMicros),
        "most" -> Durations.inWords(most)
      )
    }
    if (sinceMicros > ClockSteps.FarMicros) {
      doubts = true
      watch.clockFarFromLast(ClockSteps.inWords(sinceMicros))
    }
  }
}

private[query] object ClockSteps {
  private val FarMicros = 86400000000L

  /** Begins to look when a query starts; refuses settings of its session. */
  def of(query: StreamExecutionAccess, inputs: QueryInputs, watch: WatermarkMonitor): ClockSteps = {
    val limits = ClockLimits.of(query.session.sessionState.conf, inputs.maxClockStepMicros)
    val steps = new ClockSteps(limits, inputs.followTheClock, watch)
    steps.look(query.nowMs, query.elapsedMs)
    steps
  }

  private def inWords(since: Long): String =
    if (since < 0) s"${Durations.inWords(-since)} before" else s"${Durations.inWords(since)} after"
}
