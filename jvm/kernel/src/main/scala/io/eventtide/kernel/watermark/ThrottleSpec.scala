package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** A throttle as a value: what it is called, its parameters, and how to make an instance.
  *
  *   - '''Guarantee:''' immutable, validated when made.
  *   - '''Units:''' parameters are in the unit of the times that the instance will see.
  *   - '''Edges:''' several in a row apply in order, each to what the one before lets through; but
  *     a timer comes first wherever it stands, so that what waits for it is the ideal itself.
  *   - '''Restart:''' saved state fits while the names are the same; parameters may change. Under
  *     other names `Substreams` goes on from what was emitted.
  *   - '''Source:''' as `PolicySpec`.
  */
trait ThrottleSpec extends Serializable {

  /** The name under which `Throttles` lists it. */
  def name: String

  /** Names and values of the parameters, in the order in which they are documented. */
  def parameters: Seq[(String, Long)]

  /** Whether the clock decides when it emits. */
  def timed: Boolean = false

  /** The same for a clock that is so far ahead of the time that people see. */
  def forClockAhead(by: Long): ThrottleSpec = this

  def create(): Throttle

  final override def toString: String =
    parameters
      .map { case (parameter, value) => s"$parameter=$value" }
      .mkString(s"$name(", ", ", ")")
}

object ThrottleSpec {

  /** Makes one throttle of several; none lets everything through, two timers are refused.
    *
    * @param grain only multiples of it are emitted; a timer sees no others, as it may be told that
    *   one was emitted elsewhere
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
