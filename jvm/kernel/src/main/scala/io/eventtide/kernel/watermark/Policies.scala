package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** Creates a policy from its parameters by name; declared as data, so that codecs and tables need
  * no list.
  */
trait PolicyFactory {
  def name: String

  /** One sentence for option tables. */
  def doc: String

  def params: Seq[ParamSpec]

  /** Whether it combines child policies: then at least one is required, else none is allowed. */
  def takesChildren: Boolean = false

  def read(arguments: PolicyArguments): PolicySpec
}

/** The registry of policies. A new policy needs one file and one line here.
  *
  *   - '''Guarantee:''' names are unique; `read` can create every policy in the product.
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

  /** The factory with this name; an unknown name is rejected with the list of valid names. */
  def reader(name: String): PolicyFactory = byName.getOrElse(
    name,
    throw new InvalidArgument("policy", name, ParamValues.oneOf(all.map(_.name)))
  )

  /** Creates the policy `name` from its parameters and child policies. */
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
