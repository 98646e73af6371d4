package io.eventtide.spark.options

/** Formats durations for readers, and parses them. */
private[spark] object Durations {
  private val Units = Seq(
    86400000000L -> "d",
    3600000000L -> "h",
    60000000L -> "m",
    1000000L -> "s",
    1000L -> "ms",
    1L -> "us"
  )

  /** A human-readable duration such as `1h 30m`, exact to the microsecond. */
  def inWords(micros: Long): String = {
    val (parts, _) = Units.foldLeft((Vector.empty[String], micros)) { case ((words, left), unit) =>
      val (size, name) = unit
      (if (left >= size) words :+ s"${left / size}$name" else words, left % size)
    }
    if (parts.isEmpty) "0s" else parts.mkString(" ")
  }

  /** Parses a text that `inWords` has written. */
  def micros(words: String): Long = words
    .split(' ')
    .map { part =>
      val (number, name) = part.span(_.isDigit)
      number.toLong * Units.collectFirst { case (size, `name`) => size }.getOrElse(0L)
    }
    .sum
}
