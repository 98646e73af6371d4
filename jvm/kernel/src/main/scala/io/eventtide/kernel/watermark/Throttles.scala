package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** Makes a throttle from parameters by name; as data, so that codecs and tables need no list. */
trait ThrottleFactory {
  def name: String

  /** One sentence for tables of options. */
  def doc: String

  def params: Seq[ParamSpec]

  def read(arguments: ParamValues): ThrottleSpec
}

/** The registry of throttles: a new one is a file of its own and a line here.
  *
  *   - '''Guarantee:''' names are unique; every throttle in the product can be made through `read`.
  */
object Throttles {
  val all: Seq[ThrottleFactory] = Seq(ThrottleByFrame, ThrottleByMinStep, EmitEvery)

  private val byName = all.map(reader => reader.name -> reader).toMap

  /** The reader of that name; an unknown name is refused with those that there are. */
  def reader(name: String): ThrottleFactory = byName.getOrElse(
    name,
    throw new InvalidArgument("throttle", name, ParamValues.oneOf(all.map(_.name)))
  )

  /** Makes the throttle `name` from its parameters. */
  def read(name: String, values: Map[String, Long]): ThrottleSpec =
    reader(name).read(ParamValues(name, reader(name).params, values))
}
