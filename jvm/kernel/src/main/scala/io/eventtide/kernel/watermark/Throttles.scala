package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** Creates a throttle from its parameters by name; declared as data, so that codecs and tables need
  * no list.
  */
trait ThrottleFactory {
  def name: String

  /** One sentence for option tables. */
  def doc: String

  def params: Seq[ParamSpec]

  def read(arguments: ParamValues): ThrottleSpec
}

/** The registry of throttles. A new throttle needs one file and one line here.
  *
  *   - '''Guarantee:''' names are unique; `read` can create every throttle in the product.
  */
object Throttles {
  val all: Seq[ThrottleFactory] = Seq(ThrottleByFrame, ThrottleByMinStep, EmitEvery)

  private val byName = all.map(reader => reader.name -> reader).toMap

  /** The factory with this name; an unknown name is rejected with the list of valid names. */
  def reader(name: String): ThrottleFactory = byName.getOrElse(
    name,
    throw new InvalidArgument("throttle", name, ParamValues.oneOf(all.map(_.name)))
  )

  /** Creates the throttle `name` from its parameters. */
  def read(name: String, values: Map[String, Long]): ThrottleSpec =
    reader(name).read(ParamValues(name, reader(name).params, values))
}
