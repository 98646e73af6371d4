package io.eventtide.spark.storm

import io.eventtide.spark.options.WindowConflicts.refuse
import io.eventtide.spark.options.{Durations, OptionReader}

/** Reads a bolt from Storm's configuration keys. */
private[storm] object BoltConfig {
  private val Bolts = "topology.bolts."
  private val Length = s"${Bolts}window.length."
  private val Slide = s"${Bolts}window.sliding.interval."
  private val OfWindows =
    Seq("window", "tuple", "watermark", "late", "message").map(Bolts + _ + ".")
  private val Field = s"${Bolts}tuple.timestamp.field.name"
  private val Lag = s"${Bolts}tuple.timestamp.max.lag.ms"
  private val Interval = s"${Bolts}watermark.event.interval.ms"
  private val LateStream = s"${Bolts}late.tuple.stream"

  /** Storm's keys of windowed bolts. */
  val Keys: Seq[String] =
    Seq(Length, Slide).flatMap(of => Seq(s"${of}count", s"${of}duration.ms")) ++
      Seq(Field, Lag, Interval, LateStream)

  def read(config: Map[String, Any], empty: StormWindow): StormWindow = {
    val bolts = config.filter { case (key, value) =>
      Option(value).isDefined && OfWindows.exists(key.startsWith)
    }
    bolts.keys.toSeq.sorted.find(!Keys.contains(_)).foreach { key =>
      OptionReader.unknown("config", key, s"the keys ${Keys.mkString(", ")}")
    }
    val length = extent(bolts, "length", Length)
    val slide = extent(bolts, "slide", Slide)
    val sized = (length, slide) match {
      case (None, None) => empty
      case (None, Some(_)) => OptionReader.missing(s"${Length}count", "the length of a window")
      case (Some(one), other) => empty.sized(one, other.getOrElse(Extent(Count(1))))
    }
    val timed = text(bolts, Field).fold(sized)(sized.withTimestampField(_))
    val lagged = millis(bolts, Lag, 0).fold(timed)(timed.withLag(_))
    val emitting = millis(bolts, Interval, 1).fold(lagged)(lagged.withWatermarkInterval(_))
    text(bolts, LateStream).fold(emitting)(emitting.withLateTupleStream)
  }

  private def extent(bolts: Map[String, Any], name: String, prefix: String): Option[Extent] = {
    val key = s"${prefix}count"
    val rows = number(bolts, key, 1, Int.MaxValue).map(count => Extent(Count(count.toInt)))
    val time = millis(bolts, s"${prefix}duration.ms", 1).map(Extent(name, _))
    if (rows.isDefined && time.isDefined) {
      val problem = s"is the $name again, in another unit"
      refuse(key, bolts(key).toString, problem, "one of the two", "Remove one")
    }
    rows.orElse(time)
  }

  private def millis(bolts: Map[String, Any], key: String, least: Long): Option[String] =
    number(bolts, key, least, Long.MaxValue / 1000).map(millis => Durations.inWords(millis * 1000))

  private def number(
      bolts: Map[String, Any],
      key: String,
      least: Long,
      most: Long
  ): Option[Long] =
    bolts.get(key).map { value =>
      val read = value match {
        case number: Int => Some(number.toLong)
        case number: Long => Some(number)
        case _ => None
      }
      read
        .filter(number => number >= least && number <= most)
        .getOrElse(
          OptionReader.unknown(key, value.toString, s"whole numbers from $least to $most")
        )
    }

  private def text(bolts: Map[String, Any], key: String): Option[String] =
    bolts.get(key).map {
      case text: String if text.nonEmpty => text
      case other => OptionReader.unknown(key, other.toString, "names")
    }
}
