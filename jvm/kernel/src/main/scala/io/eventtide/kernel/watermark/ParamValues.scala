package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** The values of a factory's parameters, including defaults.
  *
  *   - '''Units:''' durations are already in the caller's unit.
  *   - '''Edges:''' a missing required value, or an unknown parameter name, is rejected on
  *     construction.
  */
final class ParamValues private (values: Map[ParamSpec, Long]) {
  def long(param: ParamSpec): Long = values(param)

  def int(param: ParamSpec): Int = Math.toIntExact(values(param))
}

object ParamValues {

  /** Matches `supplied` against the parameters of `owner`. */
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

/** The arguments of `PolicyFactory.read`: the parameters and the child policies, if it takes any.
  */
final case class PolicyArguments(values: ParamValues, children: Seq[PolicySpec]) {
  def long(param: ParamSpec): Long = values.long(param)

  def int(param: ParamSpec): Int = values.int(param)
}
