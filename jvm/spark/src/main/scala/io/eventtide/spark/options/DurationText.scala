package io.eventtide.spark.options

import java.util.Locale
import java.util.regex.Pattern

import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.DurationGrammar.{Part, Signed}

/** Reads durations as users write them: `5s`, `1h 30m`, `interval 5 seconds`, `PT5S`.
  *
  * The options of a request have one text for each length, ISO 8601 in seconds. The grammar and the
  * refusals are those of Python; tests/border/durations.json has cases for both.
  *
  *   - '''Guarantee:''' exact; a length that is not a whole number of microseconds is refused.
  *   - '''Units:''' microseconds, from 0 to the largest long.
  *   - '''Edges:''' `m` is a minute and, between the `P` and the `T` of ISO 8601, a month. A number
  *     without a unit is refused.
  */
private[spark] object DurationText {
  private val Allowed =
    s"text with ${DurationGrammar.Names} ('1h 30m', 'interval 5 seconds') or ISO 8601 ('PT5S')"

  /** A millisecond, Spark's unit of watermarks. */
  private val LeastFrame = 1000L
  private val Day = 86400000000L
  private val MostDays = Long.MaxValue / Day
  private val MostTypos = 2
  private val ShownText = 200

  /** The length of a text in microseconds.
    *
    * @param isPositive
    *   whether zero is refused
    */
  def micros(option: String, text: String, isPositive: Boolean = false): Long = {
    val Signed(sign, unsigned) = DurationGrammar.signed(text)
    val parts = DurationGrammar.parts(unsigned)
    if (parts.isEmpty) refuse(option, text, "cannot be read as a duration", Allowed, "5s")
    inRange(option, text, sum(option, text, parts) * sign, isPositive)
  }

  /** The option of a text: ISO 8601 in seconds. */
  def toIso(option: String, text: String, isPositive: Boolean = false): String =
    iso(micros(option, text, isPositive))

  /** ISO 8601 in seconds, as Python writes it: equal lengths are equal texts. */
  def iso(micros: Long): String = {
    val seconds = BigDecimal(micros, 6).bigDecimal.stripTrailingZeros
    s"PT${seconds.toPlainString}S"
  }

  /** The length of a frame in microseconds, at least a millisecond. */
  def frame(option: String, text: String): Long =
    leastFrame(option, text, micros(option, text, isPositive = true))

  /** Refuses a length of a frame below a millisecond. */
  def leastFrame(option: String, text: String, micros: Long): Long = {
    val problem = "is shorter than Spark's watermarks can represent"
    if (micros < LeastFrame) refuse(option, text, problem, "1ms or more", "1ms")
    micros
  }

  /** Refuses a length below zero, above the largest long and, if it must be positive, zero. */
  def inRange(option: String, text: String, length: BigDecimal, isPositive: Boolean): Long = {
    if (length < 0 || (length == 0 && isPositive)) {
      val least = if (isPositive) "more than zero" else "zero or more"
      val (problem, positive) =
        if (length == 0) "is zero" -> "1s" else "is negative" -> inWords(-length)
      refuse(option, text, problem, least, positive)
    }
    if (length > Long.MaxValue)
      refuse(option, text, "is longer than the JVM can count", s"up to $MostDays days", "365 days")
    length.toLongExact
  }

  def refuse(
      option: String,
      text: String,
      problem: String,
      allowed: String,
      example: String
  ): Nothing = throw EventtideException(
    "INVALID_DURATION",
    "option" -> option,
    "value" -> shown(String.valueOf(text)),
    "problem" -> problem,
    "allowed" -> allowed,
    "example" -> example
  )

  private def shown(text: String): String =
    if (text.length > ShownText) s"${text.take(ShownText)}..." else text

  private def sum(option: String, text: String, parts: Seq[Part]): BigDecimal = {
    val (total, _) = parts.foldLeft((BigDecimal(0), BigDecimal(Long.MaxValue))) {
      case ((total, above), part) =>
        val size = sizeOf(option, text, part)
        if (size >= above) {
          val (problem, allowed) =
            ("has its units in the wrong order", "from large units to small")
          refuse(option, text, problem, allowed, inOrder(option, parts))
        }
        (total + part.amount * size, size)
    }
    if (!total.isWhole) tooFine(option, text, "is not a whole number of microseconds")
    total
  }

  private def sizeOf(option: String, text: String, part: Part): BigDecimal =
    DurationGrammar.micros(part.unit).getOrElse {
      val lower = part.unit.toLowerCase(Locale.ROOT)
      if (DurationGrammar.NotFixed(lower)) {
        val days = (part.amount * (if (lower.startsWith("y")) 365 else 30))
          .setScale(0, BigDecimal.RoundingMode.HALF_EVEN)
          .max(1)
          .min(MostDays)
        val allowed = s"units of fixed length, ${DurationGrammar.Names}"
        refuse(
          option,
          text,
          s"has the unit '${part.unit}', whose length varies",
          allowed,
          s"${days}d"
        )
      }
      if (DurationGrammar.TooFine(lower))
        tooFine(option, text, s"has the unit '${part.unit}', which is too fine")
      val problem = s"has the unknown unit '${part.unit}'"
      refuse(option, text, problem, s"the units ${DurationGrammar.Names}", inKnownUnits(text, part))
    }

  private def tooFine(option: String, text: String, problem: String): Nothing =
    refuse(option, text, problem, "whole microseconds, such as 1us", "1us")

  /** The text with the nearest known unit; only the number and this unit if that is invalid. */
  private def inKnownUnits(text: String, part: Part): String = {
    val near = nearest(part.unit.toLowerCase(Locale.ROOT))
    val unit = s"(?<![a-zA-Zµμ])${Pattern.quote(part.unit)}(?![a-zA-Zµμ])"
    val changed = DurationGrammar.stripped(text).replaceAll(unit, near)
    try { micros("", changed); changed }
    catch { case _: EventtideException => s"${part.number}$near" }
  }

  private def nearest(unit: String): String = {
    val word = UTF8String.fromString(unit)
    val (name, distance) = DurationGrammar.allNames
      .map(name => name -> word.levenshteinDistance(UTF8String.fromString(name)))
      .minBy { case (name, distance) => (distance, -name.length) }
    if (distance <= math.min(MostTypos, unit.length / 2)) name else "s"
  }

  /** The sum of the parts, with its units from large to small. */
  private def inOrder(option: String, parts: Seq[Part]): String =
    inWords(parts.map(part => BigDecimal(micros(option, part.number + part.unit))).sum)

  private def inWords(micros: BigDecimal): String =
    Durations.inWords(micros.min(Long.MaxValue).toLong)
}
