package io.eventtide.kernel.watermark

import io.eventtide.kernel.time.Clamped

/** Emits a watermark only when it is at least a step above the last one.
  *
  *   - '''Guarantee:''' every emitted watermark is an ideal watermark; never goes back.
  *   - '''Units:''' the step is in the unit of event time.
  *   - '''Edges:''' see `MinStepThrottle`.
  *   - '''Source:''' Jet's `throttleByMinStep`; its documentation says "more than", its code "at
  *     least".
  */
object ThrottleByMinStep
    extends ThrottleKind(
      "throttle_by_min_step",
      ParamSpec.positive("step", "the smallest advance that is emitted")
    ) {
  def apply(step: Long): ThrottleSpec = ThrottleSpec(this, Seq(step))

  def create(spec: ThrottleSpec): Throttle = new MinStepThrottle(spec.values.head)
}

/** Emits the ideal watermark when it is at least one step above the last one.
  *
  *   - '''Guarantee:''' less than a step behind the ideal; never goes back.
  *   - '''Edges:''' passes at exactly the step; the first ideal is always emitted. Near the end of
  *     the range the step is clamped, so that `Long.MaxValue` still passes.
  *   - '''Restart:''' format 1 of `BaseThrottle`.
  */
private[watermark] final class MinStepThrottle(step: Long) extends BaseThrottle {
  def offer(now: Long, ideal: Long): Boolean = ideal >= nextTarget && emit(ideal)

  protected def idealFor(value: Long): Long = Math.max(value, nextTarget)

  protected def idealAbove(last: Long): Long = Clamped.add(last, step)
}
