package io.eventtide.spark.sql

import java.time.{LocalDate, LocalDateTime, OffsetDateTime, ZoneId}

import scala.util.Try

/** Reads the time at which a window starts: an instant, or a local time in the window's zone. */
private[sql] object OriginText {

  def read(argument: Argument, text: String, zone: Option[String]): String = {
    val iso = text.trim.replaceFirst("(?<=^\\d{4}-\\d{2}-\\d{2}) ", "T")
    def instant = Try(OffsetDateTime.parse(iso)).map(_.toInstant).toOption
    def local =
      Try(LocalDateTime.parse(iso)).orElse(Try(LocalDate.parse(iso).atStartOfDay)).toOption
    val found = instant.orElse(for {
      time <- local
      name <- zone
      id <- Try(ZoneId.of(name)).toOption
    } yield time.atZone(id).toInstant)
    found.fold(refuse(argument, text))(_.toString)
  }

  private def refuse(argument: Argument, text: String): Nothing = argument.refuse(
    "INVALID_CHOICE",
    "value" -> text,
    "allowed" -> ("instants in ISO 8601, such as '1970-01-01T00:00:00Z', and local times with a " +
      "time_zone")
  )
}
