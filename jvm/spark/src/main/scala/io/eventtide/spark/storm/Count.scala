package io.eventtide.spark.storm

import java.time.Duration

import io.eventtide.spark.options.{DurationText, OptionReader, SettingText}

/** A number of rows, as the length or the slide of a window: from 1 to 1 000 000. */
final case class Count(value: Int) {
  SettingText.rows("count", value): Unit
  if (value > Count.Most)
    OptionReader.unknown("count", value.toString, s"whole numbers from 1 to ${Count.Most}")
}

object Count {
  private val Most = 1000000

  /** A number of rows; this is Storm's name of the constructor. */
  def of(value: Int): Count = Count(value)
}

/** A length or a slide: a number of rows, or a duration. */
private[storm] sealed trait Extent {

  /** The option of a window over stored rows. */
  def option(name: String): (String, String)

  /** Whether rows between two windows of this length and `slide` are in no window. */
  def isBelow(slide: Extent): Boolean
}

private[storm] object Extent {
  final case class Rows(count: Count) extends Extent {
    def option(name: String): (String, String) = s"$name.rows" -> count.value.toString

    def isBelow(slide: Extent): Boolean = slide match {
      case Rows(other) => count.value < other.value
      case _ => false
    }
  }

  /** @param micros
    *   a millisecond or more
    */
  final case class Time(micros: Long) extends Extent {
    def option(name: String): (String, String) = s"$name.time" -> DurationText.iso(micros)

    def isBelow(slide: Extent): Boolean = slide match {
      case Time(other) => micros < other
      case _ => false
    }
  }

  def apply(name: String, text: String): Extent = Time(DurationText.frame(name, text))

  def apply(name: String, length: Duration): Extent = apply(name, SettingText.text(length))

  def apply(count: Count): Extent = Rows(count)
}
