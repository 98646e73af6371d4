package io.eventtide.spark.sql

import java.time.{Duration, Instant}
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import io.eventtide.spark.options.{DurationText, SizeText}

/** Reads the values of arguments as the text of options. Durations are texts, as in Python, or
  * intervals of SQL.
  */
private[sql] final class ArgumentReader(session: SparkSession) {

  def text(argument: Argument): String = literal(argument) match {
    case Literal(text: UTF8String, _: StringType) => text.toString
    case other => wrong(argument, other, "a text")
  }

  def texts(argument: Argument): Seq[String] = literal(argument) match {
    case Literal(array: ArrayData, ArrayType(_: StringType, _)) =>
      array.toSeq[UTF8String](StringType).map(String.valueOf)
    case other => wrong(argument, other, "a count, or array('north', 'south')")
  }

  def isText(argument: Argument): Boolean = literal(argument).dataType.isInstanceOf[StringType]

  def isNumber(argument: Argument): Boolean = Whole(literal(argument).dataType)

  def isInterval(argument: Argument): Boolean = literal(argument).dataType match {
    case _: DayTimeIntervalType | _: YearMonthIntervalType | CalendarIntervalType => true
    case _ => false
  }

  /** A whole number; `OptionReader` checks its range. */
  def count(argument: Argument): String = literal(argument) match {
    case Literal(number, kind) if Whole(kind) => number.toString
    case Literal(text: UTF8String, _: StringType) => text.toString
    case other => wrong(argument, other, "a whole number")
  }

  def flag(argument: Argument): Boolean = literal(argument) match {
    case Literal(value: Boolean, BooleanType) => value
    case Literal(text: UTF8String, _: StringType) if Flags.contains(text.toString) =>
      text.toString == "true"
    case other => wrong(argument, other, "true or false")
  }

  private val Whole = Set[DataType](ByteType, ShortType, IntegerType, LongType)

  private val Flags = Set("true", "false")

  /** A duration in ISO 8601, in seconds. */
  def duration(argument: Argument, isPositive: Boolean): String = literal(argument) match {
    case Literal(text: UTF8String, _: StringType) =>
      DurationText.toIso(argument.name, text.toString, isPositive)
    case Literal(micros: Long, _: DayTimeIntervalType) => iso(argument, micros, isPositive)
    case Literal(interval: CalendarInterval, _) if interval.months == 0 =>
      iso(argument, microsOf(interval), isPositive)
    case other => wrong(argument, other, "a duration: a text such as '5s', or INTERVAL 5 SECONDS")
  }

  /** The size of a window: as a duration, or in calendar days or months. */
  def size(argument: Argument, isZoned: Boolean): String = literal(argument) match {
    case Literal(text: UTF8String, _: StringType) =>
      SizeText.read(argument.name, text.toString).toIso(isZoned)
    case Literal(months: Int, _: YearMonthIntervalType) =>
      SizeText.read(argument.name, s"$months months").toIso(isZoned)
    case Literal(micros: Long, DayTimeIntervalType(DayTimeIntervalType.DAY, DayTimeIntervalType.DAY))
        if isZoned =>
      SizeText.read(argument.name, s"${Duration.of(micros, ChronoUnit.MICROS).toDays} days")
        .toIso(isZoned)
    case _ => duration(argument, isPositive = true)
  }

  /** An instant in UTC. A time without a time zone is a local time in `zone`. */
  def instant(argument: Argument, zone: Option[String]): String = literal(argument) match {
    case Literal(text: UTF8String, _: StringType) => OriginText.read(argument, text.toString, zone)
    case Literal(micros: Long, TimestampType) =>
      Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString
    case Literal(micros: Long, TimestampNTZType) =>
      val local = Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString.stripSuffix("Z")
      OriginText.read(argument, local, zone)
    case Literal(days: Int, DateType) =>
      OriginText.read(argument, java.time.LocalDate.ofEpochDay(days.toLong).toString, zone)
    case other => wrong(argument, other, "a time: a text such as '2024-01-01T00:00:00Z', or a TIMESTAMP")
  }

  def literal(argument: Argument): Literal = Constants.of(argument, session)

  def wrong(argument: Argument, value: Literal, allowed: String): Nothing = argument.refuse(
    "SQL_ARGUMENT_TYPE",
    "value" -> value.sql,
    "type" -> value.dataType.sql,
    "allowed" -> allowed
  )

  private def iso(argument: Argument, micros: Long, isPositive: Boolean): String =
    DurationText.iso(
      DurationText.inRange(argument.name, argument.text, BigDecimal(micros), isPositive)
    )

  private def microsOf(interval: CalendarInterval): Long =
    Math.addExact(Math.multiplyExact(interval.days.toLong, Day), interval.microseconds)

  private val Day = 86400000000L
}
