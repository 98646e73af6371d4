package io.eventtide.spark.query.run

import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.Durations
import io.eventtide.spark.query.monitor.{ClockLimits, WatermarkMonitor}

/** Detects a machine's clock that jumps forward by more than the time that has passed.
  *
  * A policy that follows the clock would advance irreversibly. Its query therefore fails before the
  * next batch is written to the offset log. The state is still correct, and a restart continues
  * from it.
  *
  *   - '''Guarantee:''' within a run, each check compares the clock with a monotonic clock since
  *     the previous check. A start has no such reference: the query's downtime is not a clock step.
  *   - '''Edges:''' a machine that was suspended looks like a step. Steps back are not detected
  *     here; see `QueryClock`.
  *
  * @param follows
  *   whether a policy of the query follows the clock
  */
private[query] final class ClockSteps(
    limits: ClockLimits,
    follows: Boolean,
    monitor: WatermarkMonitor
) {
  private var last = Option.empty[(Long, Long)]
  private var isClockDoubtful = false

  /** Whether the clock may be wrong in this run. If so, nothing may be removed based on its time.
    */
  def isDoubtful: Boolean = isClockDoubtful

  /** Compares the machine's clock (`nowMs`) with a monotonic clock (`elapsedMs`). */
  def check(nowMs: Long, elapsedMs: Long): Unit = {
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
      isClockDoubtful = true
      monitor.clockSetForward(step)
    }

  /** Checks the time between the last batch of an earlier run and the start of this run. */
  def checkAtStart(sinceMicros: Long): Unit = {
    limits.startMicros.filter(math.abs(sinceMicros) > _).foreach { most =>
      throw EventtideException(
        "CLOCK_STEP_AT_START",
        "far" -> ClockSteps.inWords(sinceMicros),
        "most" -> Durations.inWords(most)
      )
    }
    if (sinceMicros > ClockSteps.FarMicros) {
      isClockDoubtful = true
      monitor.clockFarFromLast(ClockSteps.inWords(sinceMicros))
    }
  }
}

private[query] object ClockSteps {
  private val FarMicros = 86400000000L

  /** Begins the checks when a query starts; refuses invalid settings of its session. */
  def of(
      query: StreamExecutionAccess,
      inputs: QueryInputs,
      monitor: WatermarkMonitor
  ): ClockSteps = {
    val limits = ClockLimits.of(query.session.sessionState.conf, inputs.maxClockStepMicros)
    val steps = new ClockSteps(limits, inputs.followTheClock, monitor)
    steps.check(query.nowMs, query.elapsedMs)
    steps
  }

  private def inWords(since: Long): String =
    if (since < 0) s"${Durations.inWords(-since)} before" else s"${Durations.inWords(since)} after"
}
