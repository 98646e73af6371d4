package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** Makes a policy from parameters by name; as data, so that codecs and tables need no list. */
trait PolicyFactory {
  def name: String

  /** One sentence for tables of options. */
  def doc: String

  def params: Seq[ParamSpec]

  /** Whether it combines other policies; then at least one is needed, else none is allowed. */
  def takesChildren: Boolean = false

  def read(arguments: PolicyArguments): PolicySpec
}

/** The registry of policies: a new one is a file of its own and a line here.
  *
  *   - '''Guarantee:''' names are unique; every policy in the product can be made through `read`.
  */
object Policies {
  val all: Seq[PolicyFactory] = Seq(
    WithFixedLag,
    LimitingLagAndDelay,
    LimitingLagAndLull,
    LimitingTimestampAndWallClockLag,
    LimitingRealTimeLag,
    WithIngestionTime,
    MinEventTime,
    MinEventTimeOfAll,
    MaxEventTime,
    StormLag,
    MinOf,
    MaxOf
  )

  private val byName = all.map(reader => reader.name -> reader).toMap

  /** The reader of that name; an unknown name is refused with those that there are. */
  def reader(name: String): PolicyFactory = byName.getOrElse(
    name,
    throw new InvalidArgument("policy", name, ParamValues.oneOf(all.map(_.name)))
  )

  /** Makes the policy `name` from its parameters and, for an algebra, the policies inside. */
  def read(
      name: String,
      values: Map[String, Long] = Map.empty,
      children: Seq[PolicySpec] = Nil
  ): PolicySpec = {
    val made = reader(name)
    if (children.nonEmpty && !made.takesChildren)
      throw new InvalidArgument(s"policies inside $name", children.size, "absent")
    made.read(PolicyArguments(ParamValues(name, made.params, values), children))
  }
}
