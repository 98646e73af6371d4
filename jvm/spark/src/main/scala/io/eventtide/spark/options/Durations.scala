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

  /** Parses a text that `inWords` has written, and fails on another text. */
  def micros(words: String): Long = words
    .split(' ')
    .map { part =>
      val (number, name) = part.span(_.isDigit)
      val unit = Units.collectFirst { case (size, `name`) => size }
      unit.fold(throw new IllegalArgumentException(words))(Math.multiplyExact(number.toLong, _))
    }
    .fold(0L)(Math.addExact(_, _))
}
