package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Clamped

/** A kind of throttle: its parameters, and how to make an instance. */
abstract class ThrottleKind(name: String, params: ParamSpec*) extends RuleKind(name, params: _*) {

  /** Whether it emits at clock instants. */
  def timed: Boolean = false

  private[watermark] def create(spec: ThrottleSpec): Throttle
}

/** A throttle as a value: its kind and the values of its parameters.
  *
  *   - '''Guarantee:''' immutable, validated on construction, with structural equality.
  *   - '''Units:''' parameters are in the unit of the times that the instance receives.
  *   - '''Edges:''' several throttles apply in order, each to the output of the previous one. A
  *     timer comes first at any position, so that the ideal itself waits for it.
  *   - '''Restart:''' saved state is compatible while the names are the same; parameters may
  *     change. Under other names, `Substreams` continues from the emitted watermark.
  *   - '''Source:''' as `PolicySpec`.
  *
  * @param values values of `kind.params`, in their order
  * @param ahead distance of the clock ahead of the time that users see
  */
final case class ThrottleSpec(kind: ThrottleKind, values: Seq[Long], ahead: Long = 0) {
  kind.check(values)
  create(): Unit // rejects values that are not valid together

  /** The name in the registry `Throttles`. */
  def name: String = kind.name

  def timed: Boolean = kind.timed

  /** The same throttle for a clock that is `by` ahead of the time that users see. */
  def forClockAhead(by: Long): ThrottleSpec = copy(ahead = Clamped.add(ahead, by))

  def create(): Throttle = kind.create(this)

  override def toString: String = kind.text(values)
}

object ThrottleSpec {

  /** Combines throttles into one. An empty list emits every advance; two timers are rejected.
    *
    * @param grain granularity: only multiples are emitted. Applies before a timer, because a
    *   watermark that was emitted elsewhere may be passed to the timer
    */
  def chain(specs: Seq[ThrottleSpec], grain: Long = 1): Throttle = {
    val (timers, others) = specs.partition(_.timed)
    if (timers.size > 1) throw new InvalidArgument("timers", timers.mkString(", "), "one at most")
    val whole = if (grain > 1) Seq(ThrottleByFrame(grain)) else Nil
    whole ++ timers ++ others match {
      case Seq() => new Unthrottled
      case Seq(one) => one.create()
      case more => new ThrottleChain(more.map(_.create()).toArray)
    }
  }
}
