package io.eventtide.kernel.watermark

/** A kind of policy or throttle: its name and its parameters, as data for codecs.
  *
  *   - '''Guarantee:''' kinds of one class are equal, so a deserialized rule has an equal kind.
  *   - '''Restart:''' the name is part of saved state.
  */
abstract class RuleKind(val name: String, val params: ParamSpec*) extends Serializable {

  /** Parameters that are not numbers. They belong to the kind: other values make another kind. */
  def texts: Seq[(String, String)] = Nil

  override final def equals(other: Any): Boolean = other match {
    case kind: RuleKind =>
      (kind eq this) || kind.getClass == getClass && kind.name == name && kind.texts == texts
    case _ => false
  }

  override final def hashCode: Int = (getClass, name, texts).##

  /** Rejects values outside the bounds of their parameters. */
  private[watermark] final def check(values: Seq[Long]): Unit =
    params.lazyZip(values).foreach(_.check(_))

  /** The name, the parameters and the child policies as text, such as `with_fixed_lag(lag=5)`. */
  private[watermark] final def text(
      values: Seq[Long],
      children: Seq[PolicySpec] = Nil,
      patterns: Seq[String] = Nil
  ): String = {
    val numbers = params.lazyZip(values).map((param, value) => s"${param.name}=$value")
    val all = texts.map { case (name, text) => s"$name=$text" } ++ numbers
    val inside =
      children.zipAll(patterns.map(_ + ": "), null, "").map { case (child, of) => s"$of$child" }
    (all ++ inside).mkString(s"$name(", ", ", ")")
  }
}
