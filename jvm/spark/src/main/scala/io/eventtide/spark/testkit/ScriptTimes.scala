package io.eventtide.spark.testkit

import java.time.format.{DateTimeFormatter, DateTimeFormatterBuilder}
import java.time.temporal.{ChronoField, ChronoUnit}
import java.time.{Instant, LocalDateTime, ZoneOffset}

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DataType, StructType, TimestampNTZType, TimestampType}

import io.eventtide.spark.options.DurationText

/** Times of a script as text in UTC, such as `2024-01-01 00:00:07`, and rows with such texts. */
private[testkit] object ScriptTimes {
  private val Format = new DateTimeFormatterBuilder()
    .appendPattern("uuuu-MM-dd[' ']['T'][HH:mm[:ss]]")
    .appendFraction(ChronoField.MICRO_OF_SECOND, 0, 6, true)
    .appendPattern("['Z']")
    .parseDefaulting(ChronoField.HOUR_OF_DAY, 0)
    .parseDefaulting(ChronoField.MINUTE_OF_HOUR, 0)
    .toFormatter()
  private val Shown = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss")

  def local(text: String): LocalDateTime = LocalDateTime.parse(text, Format)

  def instant(text: String): Instant = local(text).toInstant(ZoneOffset.UTC)

  /** A time as text: without a fraction, or with the digits of its fraction. */
  def text(time: LocalDateTime): String = {
    val micros = time.getNano / 1000
    val fraction = if (micros == 0) "" else f".$micros%06d".reverse.dropWhile(_ == '0').reverse
    s"${Shown.format(time)}$fraction"
  }

  def text(time: Instant): String = text(LocalDateTime.ofInstant(time, ZoneOffset.UTC))

  /** A time, or a step from `now`: `+5s`, `-1m`. */
  def moved(now: Instant, to: String): Instant = to.headOption match {
    case Some('+') => now.plus(DurationText.micros("clock", to.tail), ChronoUnit.MICROS)
    case Some('-') => now.minus(DurationText.micros("clock", to.tail), ChronoUnit.MICROS)
    case _ => instant(to)
  }

  /** A row in which texts of timestamp columns are times. */
  def stored(row: Row, schema: StructType): Row = Row.fromSeq(
    row.toSeq.zip(schema.fields).map { case (value, field) => stored(value, field.dataType) }
  )

  private def stored(value: Any, kind: DataType): Any = (value, kind) match {
    case (text: String, TimestampType) => instant(text)
    case (text: String, TimestampNTZType) => local(text)
    case (inner: Row, of: StructType) => stored(inner, of)
    case (other, _) => other
  }

  /** A row as text, in which times have one form. */
  def readable(row: Row): String = row.toSeq.map(shown).mkString("[", ", ", "]")

  private def shown(value: Any): String = value match {
    case time: Instant => text(time)
    case time: java.sql.Timestamp => text(time.toInstant)
    case time: LocalDateTime => text(time)
    case inner: Row => readable(inner)
    case other => String.valueOf(other)
  }
}
