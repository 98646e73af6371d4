package io.eventtide.spark.options

import java.time.format.{DateTimeFormatter, DateTimeFormatterBuilder, DateTimeParseException}
import java.time.temporal.{ChronoField, TemporalAccessor}
import java.time.{Instant, LocalDate, LocalDateTime, OffsetDateTime, ZoneId, ZoneOffset}

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
          s"Write '${written}Z', or set a time zone"
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
  private val Format = new DateTimeFormatterBuilder()
    .parseCaseInsensitive()
    .append(DateTimeFormatter.ISO_LOCAL_DATE)
    .optionalStart()
    .appendPattern("['T'][' ']")
    .append(DateTimeFormatter.ISO_LOCAL_TIME)
    .optionalEnd()
    .optionalStart()
    .appendOffset("+HH:MM", "Z")
    .toFormatter()

  /** Reads a date or a time in ISO 8601, with or without an offset. */
  def read(text: String): OriginText =
    try {
      val found = Format.parse(text.strip)
      val date = LocalDate.from(found)
      val time =
        if (found.isSupported(ChronoField.HOUR_OF_DAY)) LocalDateTime.from(found)
        else date.atStartOfDay
      OriginText(text, time, offset(found))
    } catch {
      case _: DateTimeParseException =>
        OptionReader.unknown("origin", text, "times in ISO 8601, such as '2024-01-01T00:00:00Z'")
    }

  def of(instant: Instant): OriginText = {
    val time = OffsetDateTime.ofInstant(instant, ZoneOffset.UTC)
    OriginText(instant.toString, time.toLocalDateTime, Some(ZoneOffset.UTC))
  }

  private def offset(found: TemporalAccessor): Option[ZoneOffset] =
    Option.when(found.isSupported(ChronoField.OFFSET_SECONDS))(
      ZoneOffset.ofTotalSeconds(found.get(ChronoField.OFFSET_SECONDS))
    )
}
