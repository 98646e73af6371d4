package io.eventtide.spark.options

/** The settings of one input or one window of a query that saved state depends on. Names and values
  * are as users write them. A missing setting has its default.
  */
final case class Structure(settings: Seq[(String, String)]) {

  def ++(others: IterableOnce[(String, String)]): Structure = Structure(settings ++ others)

  def get(name: String): Option[String] = settings.collectFirst { case (`name`, value) => value }

  def without(names: String*): Structure =
    Structure(settings.filterNot { case (name, _) => names.contains(name) })

  def only(names: Seq[String]): Structure =
    Structure(settings.filter { case (name, _) => names.contains(name) })

  /** The settings on one line, for users. */
  def text: String = settings.map { case (name, value) => s"$name=$value" }.mkString(", ")

  /** The settings that differ from `other`: the name, the value here and the value in `other`. */
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

  /** A duration setting; None if the duration is zero. */
  private[options] def length(name: String, micros: Long): Option[(String, String)] =
    Option.when(micros != 0)(name -> Durations.inWords(micros))
}
