package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** The values for a reader's parameters, complete: defaults are filled in.
  *
  *   - '''Units:''' durations are already in the caller's unit.
  *   - '''Edges:''' a required value that is missing, or a name the reader does not have, is
  *     refused when this is made.
  */
final class ParamValues private (values: Map[ParamSpec, Long]) {
  def long(param: ParamSpec): Long = values(param)

  def int(param: ParamSpec): Int = Math.toIntExact(values(param))
}

object ParamValues {

  /** Fits `supplied` to the parameters of `owner`. */
  def apply(owner: String, params: Seq[ParamSpec], supplied: Map[String, Long]): ParamValues = {
    supplied.keys.find(name => !params.exists(_.name == name)).foreach { name =>
      throw new InvalidArgument(s"parameter of $owner", name, oneOf(params.map(_.name)))
    }
    new ParamValues(params.map(param => param -> valueOf(owner, param, supplied)).toMap)
  }

  private def valueOf(owner: String, param: ParamSpec, supplied: Map[String, Long]): Long =
    supplied.get(param.name).orElse(param.default).getOrElse {
      throw new InvalidArgument(s"${param.name} of $owner", "missing", param.allowed)
    }

  private[watermark] def oneOf(names: Seq[String]): String =
    if (names.isEmpty) "absent" else names.mkString("one of ", ", ", "")
}

/** What a policy's reader is supplied: its parameters and, for an algebra, the policies inside. */
final case class PolicyArguments(values: ParamValues, children: Seq[PolicySpec]) {
  def long(param: ParamSpec): Long = values.long(param)

  def int(param: ParamSpec): Int = values.int(param)
}
