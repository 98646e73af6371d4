package io.eventtide.spark.options

/** The length of a window or of a frame, in its unit. Days stay days, because some have 23 or 25
  * hours in a time zone.
  */
private[spark] final case class SizeText(count: Long, unit: SizeText.Unit) {

  /** The option: a period for months and, in a time zone, for days; otherwise seconds. */
  def toIso(isZoned: Boolean): String = unit match {
    case SizeText.Month => s"P${count}M"
    case SizeText.Day if isZoned => s"P${count}D"
    case _ => DurationText.iso(leastMicros)
  }

  /** The minimum length in microseconds; exact except for months. */
  def leastMicros: Long = count * unit.leastMicros
}

/** Reads the sizes of windows as users write them: durations, and calendar units such as `1 month`.
  *
  *   - '''Guarantee:''' the grammar and the refusals of Python; tests/border/durations.json has
  *     cases for both.
  *   - '''Edges:''' whole days and weeks become calendar days in a time zone; `24h` never does.
  */
private[spark] object SizeText {
  sealed abstract class Unit(val leastMicros: Long)
  case object Micro extends Unit(1)
  case object Day extends Unit(86400000000L)
  case object Month extends Unit(28 * 86400000000L)

  private val Days = Set("d", "day", "days", "w", "week", "weeks")
  private val Months =
    DurationGrammar.NotFixed.map(name => name -> (if (name.startsWith("y")) 12 else 1)).toMap
  private val MostMonths = 12 * 9999 // Spark shows the years 1 to 9999
  private val Allowed =
    "a duration ('1h 30m'), or whole months and years ('1 month', '1 year 6 months')"

  def read(option: String, text: String): SizeText = {
    val signed = DurationGrammar.signed(text)
    val parts = DurationGrammar.parts(signed.text).map { part =>
      part.copy(unit = DurationGrammar.inLowerCase(part.unit))
    }
    if (parts.exists(part => Months.contains(part.unit))) {
      if (signed.sign < 0) refuse(option, text, "is negative")
      SizeText(months(option, text, parts), Month)
    } else {
      val length = DurationText.frame(option, text)
      val inDays = parts.forall(part => Days(part.unit) && part.isWhole)
      if (inDays) SizeText(length / Day.leastMicros, Day) else SizeText(length, Micro)
    }
  }

  private def months(option: String, text: String, parts: Seq[DurationGrammar.Part]): Long = {
    val sizes = parts.map(part => Months.getOrElse(part.unit, 0))
    if (sizes.contains(0))
      refuse(option, text, "mixes months, whose length is not fixed, with shorter units")
    if (!parts.forall(_.isWhole)) refuse(option, text, "is not a whole number of months")
    if (sizes != sizes.distinct.sorted.reverse)
      refuse(option, text, "has its units in the wrong order")
    val count = parts.zip(sizes).map { case (part, size) => part.amount * size }.sum
    if (count == 0) refuse(option, text, "is zero")
    if (count > MostMonths) refuse(option, text, "is longer than Spark's calendar")
    count.toLongExact
  }

  private def refuse(option: String, text: String, problem: String): Nothing =
    DurationText.refuse(option, text, problem, Allowed, "1 month")
}
