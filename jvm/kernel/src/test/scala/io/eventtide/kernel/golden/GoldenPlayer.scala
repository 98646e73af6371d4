package io.eventtide.kernel.golden

/** A piece of the kernel that answers the steps of a case. */
trait GoldenPlayer {

  /** Answers in the terms of the file: numbers, booleans, lists and maps. */
  def step(op: String, args: GoldenArgs): Any
}

/** The arguments of a step or the config of a case. */
final case class GoldenArgs(values: Map[String, Any]) {
  def long(name: String): Long = number(values(name))

  def int(name: String): Int = Math.toIntExact(long(name))

  def longOr(name: String, other: Long): Long = values.get(name).fold(other)(number)

  def has(name: String): Boolean = values.contains(name)

  def get(name: String): Any = values.getOrElse(name, null)

  def text(name: String): String = values(name).toString

  def inside(name: String): GoldenArgs = GoldenArgs(GoldenFiles.fieldsOf(values(name)))

  private def number(value: Any): Long = value match {
    case "MIN" => Long.MinValue
    case "MAX" => Long.MaxValue
    case other => other.asInstanceOf[Long]
  }
}

/** What the files call "no watermark yet". */
object GoldenUnknown {
  val number: Long = Long.MinValue

  def apply(known: Boolean, value: => Long): Long = if (known) value else number

  def apply(value: Option[Long]): Long = value.getOrElse(number)
}

/** A case that is not followed: the answer, or its absence, is not the expected one. */
final class GoldenMismatch(message: String) extends Exception(message)

/** A case that cannot be played: it says something that its player does not know. */
final class GoldenWaiting(val reason: String) extends Exception(reason)

/** A step that is in the vocabulary of a player, but not in its code: a fault of the runner. */
final class UnknownStep(op: String) extends Exception(s"a step without code: $op")
