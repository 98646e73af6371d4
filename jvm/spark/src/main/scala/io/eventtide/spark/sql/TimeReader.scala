package io.eventtide.spark.sql

import java.time.temporal.ChronoUnit.MICROS
import java.time.{Duration, Instant, LocalDate}

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{
  DateType,
  DayTimeIntervalType,
  StringType,
  TimestampNTZType,
  TimestampType,
  YearMonthIntervalType
}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import io.eventtide.spark.options.{DurationText, OriginText, SizeText}

/** Reads durations and times as the texts of options. A duration is a text, as in Python, or an
  * interval of SQL.
  */
private[sql] final class TimeReader(session: SparkSession) {
  private val values = new ArgumentReader(session)

  /** A duration in ISO 8601, in seconds. */
  def duration(argument: Argument, isPositive: Boolean): String = argument.located {
    def iso(micros: BigDecimal) = DurationText.iso(
      DurationText.inRange(argument.name, argument.text, micros, isPositive)
    )
    values.literal(argument) match {
      case Literal(text: UTF8String, _: StringType) =>
        DurationText.toIso(argument.name, text.toString, isPositive)
      case Literal(micros: Long, _: DayTimeIntervalType) => iso(micros)
      case Literal(of: CalendarInterval, _) if of.months == 0 =>
        iso(BigDecimal(of.days) * TimeReader.Day + of.microseconds)
      case other =>
        values.wrong(argument, other, "a duration: a text such as '5s', or INTERVAL 5 SECONDS")
    }
  }

  /** The size of a window: a duration, or calendar days or months.
    *
    * @param isZoned
    *   whether whole days are days of a calendar, as days in a text and `INTERVAL 14 DAYS` are
    */
  def size(argument: Argument, isZoned: Boolean): String = {
    def read(text: String) =
      argument.located(SizeText.read(argument.name, text).toIso(isZoned))
    values.literal(argument) match {
      case Literal(text: UTF8String, _: StringType) => read(text.toString)
      case Literal(months: Int, _: YearMonthIntervalType) => read(s"$months months")
      case Literal(micros: Long, TimeReader.Days) if isZoned =>
        read(s"${Duration.of(micros, MICROS).toDays} days")
      case _ => duration(argument, isPositive = true)
    }
  }

  /** An instant in UTC. A time without a time zone is a local time in `zone`. */
  def instant(argument: Argument, zone: Option[String]): String = {
    def at(micros: Long) = OriginText.of(Instant.EPOCH.plus(micros, MICROS))
    argument.located {
      val origin = values.literal(argument) match {
        case Literal(text: UTF8String, _: StringType) => OriginText.read(text.toString)
        case Literal(micros: Long, TimestampType) => at(micros)
        case Literal(micros: Long, TimestampNTZType) => at(micros).copy(offset = None)
        case Literal(days: Int, DateType) =>
          OriginText.read(LocalDate.ofEpochDay(days.toLong).toString)
        case other =>
          values.wrong(argument, other, "a text such as '2024-01-01T00:00:00Z', or a TIMESTAMP")
      }
      origin.option(zone)
    }
  }
}

private object TimeReader {
  private val Day = 86400000000L
  private val Days = DayTimeIntervalType(DayTimeIntervalType.DAY)
}
