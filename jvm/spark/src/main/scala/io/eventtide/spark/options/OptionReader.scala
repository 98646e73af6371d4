package io.eventtide.spark.options

import java.time.Duration
import java.time.format.DateTimeParseException

import scala.util.Try

import io.eventtide.spark.EventtideException

/** A flat map of options, read by name. An option that is never read is an unknown option. */
private[spark] final class OptionReader(values: Map[String, String]) {
  private var read = Set.empty[String]

  def get(option: String): Option[String] = {
    read += option
    values.get(option)
  }

  def required(option: String, allowed: => String): String =
    get(option).getOrElse(OptionReader.missing(option, allowed))

  /** An ISO 8601 duration in microseconds, at least `leastMicros`. */
  def duration(option: String, leastMicros: Long): Option[Long] =
    get(option).map(OptionReader.parseDuration(option, _, leastMicros))

  def count(option: String, least: Int): Option[Int] = get(option).map { text =>
    text.toIntOption.filter(_ >= least).getOrElse {
      throw EventtideException(
        "INVALID_COUNT",
        "option" -> option,
        "value" -> text,
        "least" -> least,
        "most" -> Int.MaxValue,
        "example" -> math.max(least, 16)
      )
    }
  }

  /** A share of rows in millionths. */
  def share(option: String): Option[Long] = get(option).map(ShareText.millionths(option, _))

  def choice[A](option: String, choices: Seq[(String, A)]): Option[A] = get(option).map { text =>
    choices.toMap.getOrElse(
      text,
      OptionReader.unknown(option, text, choices.map(_._1).mkString(", "))
    )
  }

  /** `prefix.0`, `prefix.1` and so on, up to the first number without an option. */
  def numbered(prefix: String): Seq[String] =
    LazyList.from(0).map(i => s"$prefix.$i").takeWhile(has).toList

  private def has(prefix: String): Boolean =
    values.keys.exists(key => key == prefix || key.startsWith(s"$prefix."))

  /** The options that have not been read. */
  def unread: Map[String, String] = values -- read

  def refuseUnread(): Unit = unread.keys.toSeq.sorted.headOption.foreach { option =>
    throw EventtideException(
      "UNKNOWN_OPTION",
      "option" -> option,
      "allowed" -> read.toSeq.sorted.mkString(", ")
    )
  }
}

private[spark] object OptionReader {

  /** Refuses options without `option`; `allowed` describes the option. */
  def missing(option: String, allowed: String): Nothing =
    throw EventtideException("MISSING_OPTION", "option" -> option, "allowed" -> allowed)

  /** Refuses a value that is not in `allowed`. */
  def unknown(option: String, value: String, allowed: String): Nothing = throw EventtideException(
    "INVALID_CHOICE",
    "option" -> option,
    "value" -> value,
    "allowed" -> allowed
  )

  def parseDuration(option: String, text: String, leastMicros: Long): Long = {
    val micros = Try(toMicros(Duration.parse(text))).toOption
    if (micros.forall(_ < leastMicros)) {
      val problem = micros.fold("is not a duration in ISO 8601")(_ => "is too short")
      DurationText.refuse(option, text, problem, allowed(leastMicros), "PT5S")
    }
    micros.get
  }

  private def toMicros(duration: Duration): Long = {
    if (duration.getNano % 1000 != 0) throw new DateTimeParseException("nanoseconds", "", 0)
    Math.addExact(Math.multiplyExact(duration.getSeconds, 1000000L), duration.getNano / 1000L)
  }

  private def allowed(leastMicros: Long): String = leastMicros match {
    case 0 => "a duration of zero or more in ISO 8601, in whole microseconds"
    case 1000 => "a duration of at least one millisecond in ISO 8601"
    case _ => "a positive duration in ISO 8601, in whole microseconds"
  }
}
