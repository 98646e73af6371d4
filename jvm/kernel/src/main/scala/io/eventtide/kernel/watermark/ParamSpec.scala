package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** The kind of a parameter: a duration is text in options, a count is a plain number. */
sealed trait ParamKind

object ParamKind {
  case object Duration extends ParamKind
  case object Count extends ParamKind
}

/** One parameter of a policy or throttle, as data: the only definition of its bounds.
  *
  *   - '''Units:''' a duration is in the unit of the times; a count has no unit.
  *   - '''Edges:''' without a default the parameter is required.
  *
  * @param least smallest allowed value: 0 or 1
  */
final case class ParamSpec(
    name: String,
    kind: ParamKind,
    least: Long,
    doc: String,
    default: Option[Long] = None
) {

  /** The bounds in words, as in "lag must be zero or more". */
  def allowed: String = (kind, least) match {
    case (_, 0) => "zero or more"
    case (ParamKind.Duration, 1) => "more than zero"
    case _ => s"$least or more"
  }

  /** Rejects a value outside the bounds. */
  def check(value: Long): Unit =
    if (value < least) throw new InvalidArgument(name, value, allowed)
}

object ParamSpec {

  /** The allowed disorder of most policies. */
  val Lag: ParamSpec = duration("lag", "how far an event may be behind the highest one")

  /** A duration that may be zero. */
  def duration(name: String, doc: String): ParamSpec = ParamSpec(name, ParamKind.Duration, 0, doc)

  /** A duration above zero. */
  def positive(name: String, doc: String): ParamSpec = ParamSpec(name, ParamKind.Duration, 1, doc)

  /** A count, one or more. */
  def count(name: String, default: Long, doc: String): ParamSpec =
    ParamSpec(name, ParamKind.Count, 1, doc, Some(default))
}
