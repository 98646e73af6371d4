package io.eventtide.spark.options

/** What saved state depends on, of one input or one window of a query: settings by the names that
  * users know, with values as users write them. A setting that is not there has its default.
  */
final case class Structure(settings: Seq[(String, String)]) {

  def ++(others: IterableOnce[(String, String)]): Structure = Structure(settings ++ others)

  /** One line for people. */
  def text: String = settings.map { case (name, value) => s"$name=$value" }.mkString(", ")

  /** The settings that are other in another one: name, value here, value there. */
  def differences(other: Structure): Seq[(String, String, String)] = {
    val (here, there) = (settings.toMap, other.settings.toMap)
    for {
      name <- (settings ++ other.settings).map(_._1).distinct
      if here.get(name) != there.get(name)
    } yield (name, here.getOrElse(name, Structure.Unset), there.getOrElse(name, Structure.Unset))
  }
}

object Structure {
  private val Unset = "none"

  def apply(first: (String, String), others: IterableOnce[(String, String)]*): Structure =
    Structure(first +: others.flatten)

  /** A length of time, unless it is zero. */
  private[options] def length(name: String, micros: Long): Option[(String, String)] =
    Option.when(micros != 0)(name -> Durations.inWords(micros))
}
