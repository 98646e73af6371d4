package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** The values for a reader's parameters, complete: defaults are filled in.
  *
  *   - '''Units:''' durations are already in the caller's unit.
  *   - '''Edges:''' a required value that is missing, or a name the reader does not have, is
  *     refused when this is made.
  */
final class Arguments private (values: Map[Param, Long]) {
  def long(param: Param): Long = values(param)

  def int(param: Param): Int = Math.toIntExact(values(param))
}

object Arguments {

  /** Fits `supplied` to the parameters of `owner`. */
  def apply(owner: String, params: Seq[Param], supplied: Map[String, Long]): Arguments = {
    supplied.keys.find(name => !params.exists(_.name == name)).foreach { name =>
      throw new InvalidArgument(s"parameter of $owner", name, oneOf(params.map(_.name)))
    }
    new Arguments(params.map(param => param -> valueOf(owner, param, supplied)).toMap)
  }

  private def valueOf(owner: String, param: Param, supplied: Map[String, Long]): Long =
    supplied.get(param.name).orElse(param.default).getOrElse {
      throw new InvalidArgument(s"${param.name} of $owner", "missing", param.allowed)
    }

  private[watermark] def oneOf(names: Seq[String]): String =
    if (names.isEmpty) "absent" else names.mkString("one of ", ", ", "")
}

/** What a policy's reader is supplied: its parameters and, for an algebra, the policies inside. */
final case class PolicyArguments(values: Arguments, children: Seq[PolicySpec]) {
  def long(param: Param): Long = values.long(param)

  def int(param: Param): Int = values.int(param)
}
