package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** The kind of a parameter. In options, a duration is text such as `PT5S`, a count is a number, a
  * share is text such as `0.1%`, and a choice is one of several words.
  */
sealed trait ParamKind

object ParamKind {
  case object Duration extends ParamKind
  case object Count extends ParamKind

  /** A share of rows; the value is in millionths. */
  case object Share extends ParamKind

  /** The value is the position of a word. */
  final case class Choice(words: Seq[String]) extends ParamKind
}

/** One parameter of a policy or throttle, as data: the only definition of its bounds.
  *
  *   - '''Units:''' a duration is in the unit of the times; a count has no unit, a
  *     share is in millionths.
  *   - '''Edges:''' without a default the parameter is required.
  *
  * @param least smallest allowed value: 0 or 1
  * @param most largest allowed value
  */
final case class ParamSpec(
    name: String,
    kind: ParamKind,
    least: Long,
    doc: String,
    default: Option[Long] = None,
    most: Long = Long.MaxValue
) {

  /** The bounds in words, as in "lag must be zero or more". */
  def allowed: String = (kind, least) match {
    case (ParamKind.Share, _) => "a share of rows from 0 to 1, such as 0.1%"
    case (ParamKind.Choice(words), _) => words.mkString(" or ")
    case (_, 0) => "zero or more"
    case (ParamKind.Duration, 1) => "more than zero"
    case _ => s"$least or more"
  }

  /** Rejects a value outside the bounds. */
  def check(value: Long): Unit =
    if (value < least || value > most) throw new InvalidArgument(name, value, allowed)
}

object ParamSpec {

  /** The allowed disorder of most policies. */
  val Lag: ParamSpec = duration("lag", "how far an event may be behind the highest one")

  /** A duration that may be zero. */
  def duration(name: String, doc: String): ParamSpec = ParamSpec(name, ParamKind.Duration, 0, doc)

  /** A duration above zero. */
  def positive(name: String, doc: String): ParamSpec = ParamSpec(name, ParamKind.Duration, 1, doc)

  /** A share of rows, in millionths. */
  def share(name: String, doc: String): ParamSpec =
    ParamSpec(name, ParamKind.Share, 0, doc, most = 1000000)

  /** A choice of words; the first one is the default. */
  def choice(name: String, words: Seq[String], doc: String): ParamSpec =
    ParamSpec(name, ParamKind.Choice(words), 0, doc, Some(0), most = words.length - 1L)

  /** A count, one or more. */
  def count(name: String, default: Long, doc: String): ParamSpec =
    ParamSpec(name, ParamKind.Count, 1, doc, Some(default))
}
