package io.eventtide.kernel.watermark

/** A kind of policy or throttle: its name and its parameters, as data for codecs.
  *
  *   - '''Guarantee:''' each kind is an object, so a serialized rule is read back with the same
  *     kind.
  *   - '''Restart:''' the name is part of saved state.
  */
abstract class RuleKind(val name: String, val params: ParamSpec*) extends Serializable {

  /** Rejects values outside the bounds of their parameters. */
  private[watermark] final def check(values: Seq[Long]): Unit =
    params.lazyZip(values).foreach(_.check(_))

  /** The name, the parameters and the child policies as text, such as `with_fixed_lag(lag=5)`. */
  private[watermark] final def text(
      values: Seq[Long],
      children: Seq[PolicySpec] = Nil,
      patterns: Seq[String] = Nil
  ): String = {
    val all = params.lazyZip(values).map((param, value) => s"${param.name}=$value")
    val inside =
      children.zipAll(patterns.map(_ + ": "), null, "").map { case (child, of) => s"$of$child" }
    (all ++ inside).mkString(s"$name(", ", ", ")")
  }
}
