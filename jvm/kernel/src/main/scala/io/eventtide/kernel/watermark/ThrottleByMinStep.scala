package io.eventtide.kernel.watermark

import io.eventtide.kernel.time.Clamped

/** Emits a watermark only when it is at least a step above the last one.
  *
  *   - '''Guarantee:''' every emitted watermark is an ideal watermark; never goes back.
  *   - '''Units:''' the step is in the unit of event time.
  *   - '''Edges:''' see `MinStepThrottle`.
  *   - '''Source:''' Jet's `throttleByMinStep`; its documentation has "more than", its code "at
  *     least".
  *
  * @param step smallest advance that is emitted, more than zero
  */
final case class ThrottleByMinStep(step: Long) extends ThrottleSpec {
  ThrottleByMinStep.Step.check(step)

  def name: String = ThrottleByMinStep.name

  def parameters: Seq[(String, Long)] = Seq("step" -> step)

  def create(): Throttle = new MinStepThrottle(step)
}

object ThrottleByMinStep extends ThrottleFactory {
  val Step: ParamSpec = ParamSpec.positive("step", "the smallest advance that is emitted")

  def name: String = "throttle_by_min_step"

  def doc: String = "emits a watermark only when it is at least step above the last one"

  def params: Seq[ParamSpec] = Seq(Step)

  def read(arguments: ParamValues): ThrottleSpec = ThrottleByMinStep(arguments.long(Step))
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
