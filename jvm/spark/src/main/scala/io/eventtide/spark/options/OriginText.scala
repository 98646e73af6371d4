package io.eventtide.spark.options

import java.time.format.DateTimeFormatter
import java.time.{Instant, LocalDate, LocalDateTime, LocalTime, ZoneId, ZoneOffset}
import java.util.Locale

import scala.util.Try

/** A time at which a window starts: an instant, or a local time of the window's time zone. */
private[spark] final case class OriginText(
    written: String,
    local: LocalDateTime,
    offset: Option[ZoneOffset]
) {

  /** The option: an instant in UTC. */
  def option(zone: Option[String]): String = {
    val instant = offset
      .map(local.toInstant)
      .orElse(zone.map(name => local.atZone(ZoneId.of(name)).toInstant))
      .getOrElse(
        WindowConflicts.refuse(
          "origin",
          written,
          "has no time zone",
          "a time with a UTC offset, or any time with a time_zone",
          s"Write '${local}Z', or set a time zone"
        )
      )
    val utc = LocalDateTime.ofInstant(instant, ZoneOffset.UTC)
    if (utc.getYear < 1 || utc.getYear > 9999)
      OptionReader.unknown("origin", written, "times of the years 1 to 9999 in UTC")
    // As Python writes it: without a fraction, or with six digits.
    val fraction = if (utc.getNano == 0) "" else ".SSSSSS"
    s"${DateTimeFormatter.ofPattern(s"uuuu-MM-dd'T'HH:mm:ss$fraction").format(utc)}Z"
  }
}

private[spark] object OriginText {
  private val Iso = {
    val clock = raw"(\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)"
    val offset = raw"(Z|[+-](?:(?:0\d|1[0-7]):[0-5]\d(?::[0-5]\d)?|18:00(?::00)?))"
    raw"(\d{4}-\d\d-\d\d)(?:[T ]$clock$offset?)?".r
  }

  /** Reads a date, or a date and a time with or without an offset, in ISO 8601. A space may be in
    * place of the `T`.
    */
  def read(text: String): OriginText = String.valueOf(text).strip.toUpperCase(Locale.ROOT) match {
    case Iso(date, time, offset) =>
      val found = Try {
        val clock = Option(time).fold(LocalTime.MIDNIGHT)(LocalTime.parse(_))
        OriginText(text, LocalDate.parse(date).atTime(clock), Option(offset).map(ZoneOffset.of))
      }
      found.getOrElse(refuse(text))
    case _ => refuse(text)
  }

  def of(instant: Instant): OriginText = {
    val written = String.valueOf(instant)
    val time = Try(LocalDateTime.ofInstant(instant, ZoneOffset.UTC)).getOrElse(refuse(written))
    OriginText(written, time, Some(ZoneOffset.UTC))
  }

  private def refuse(text: String): Nothing =
    OptionReader.unknown("origin", text, "times in ISO 8601, such as '2024-01-01T00:00:00Z'")
}
