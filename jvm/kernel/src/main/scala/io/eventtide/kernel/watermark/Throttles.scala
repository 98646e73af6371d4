package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** Makes a throttle from parameters by name; as data, so that codecs and tables need no list. */
trait ThrottleReader {
  def name: String

  /** One sentence for tables of options. */
  def doc: String

  def params: Seq[Param]

  def read(arguments: Arguments): ThrottleSpec
}

/** The registry of throttles: a new one is a file of its own and a line here.
  *
  *   - '''Guarantee:''' names are unique; every throttle in the product can be made through `read`.
  */
object Throttles {
  val all: Seq[ThrottleReader] = Seq(ThrottleByFrame, ThrottleByMinStep, EmitEvery)

  private val byName = all.map(reader => reader.name -> reader).toMap

  /** The reader of that name; an unknown name is refused with those that there are. */
  def reader(name: String): ThrottleReader = byName.getOrElse(
    name,
    throw new InvalidArgument("throttle", name, Arguments.oneOf(all.map(_.name)))
  )

  /** Makes the throttle `name` from its parameters. */
  def read(name: String, values: Map[String, Long]): ThrottleSpec =
    reader(name).read(Arguments(name, reader(name).params, values))
}
