package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** A throttle as a value: its name, its parameters, and a factory for instances.
  *
  *   - '''Guarantee:''' immutable, validated on construction.
  *   - '''Units:''' parameters are in the unit of the times that the instance receives.
  *   - '''Edges:''' several throttles apply in order, each to the output of the previous one. A
  *     timer comes first at any position, so that the ideal itself waits for it.
  *   - '''Restart:''' saved state is compatible while the names are the same; parameters may
  *     change. Under other names, `Substreams` continues from the emitted watermark.
  *   - '''Source:''' as `PolicySpec`.
  */
trait ThrottleSpec extends Serializable {

  /** The name in the registry `Throttles`. */
  def name: String

  /** The names and values of the parameters, in the documented order. */
  def parameters: Seq[(String, Long)]

  /** Whether it emits at clock instants. */
  def timed: Boolean = false

  /** The same throttle for a clock that is `by` ahead of the time that users see. */
  def forClockAhead(by: Long): ThrottleSpec = this

  def create(): Throttle

  final override def toString: String =
    parameters
      .map { case (parameter, value) => s"$parameter=$value" }
      .mkString(s"$name(", ", ", ")")
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
