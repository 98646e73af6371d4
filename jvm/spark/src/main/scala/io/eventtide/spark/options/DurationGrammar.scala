package io.eventtide.spark.options

import java.util.Locale
import java.util.regex.Pattern

import scala.collection.mutable

/** The parts of a duration text, before they are added: numbers and units, and a sign. */
private[options] object DurationGrammar {

  /** A number and its unit, as written. */
  final case class Part(number: String, unit: String) {
    def amount: BigDecimal = BigDecimal(number, java.math.MathContext.UNLIMITED)
    def isWhole: Boolean = !number.contains('.')
  }

  /** A text without its sign, and the sign: 1 or -1. */
  final case class Signed(sign: Int, text: String)

  /** The units, as errors list them. */
  val Names = "w, d, h, m, s, ms or us"

  private val Units = Seq(
    604800000000L -> Seq("w", "week", "weeks"),
    86400000000L -> Seq("d", "day", "days"),
    3600000000L -> Seq("h", "hr", "hour", "hours"),
    60000000L -> Seq("m", "min", "mins", "minute", "minutes"),
    1000000L -> Seq("s", "sec", "secs", "second", "seconds"),
    1000L -> Seq("ms", "millisecond", "milliseconds"),
    1L -> Seq("us", "µs", "μs", "microsecond", "microseconds") // both signs for micro
  )
  private val MicrosOf = Units.flatMap { case (size, names) => names.map(_ -> size) }.toMap

  /** Units whose length varies. */
  val NotFixed: Set[String] = Set("mo", "mon", "month", "months", "y", "yr", "year", "years")

  /** Units shorter than a microsecond. */
  val TooFine: Set[String] = Set("ns", "nano", "nanos", "nanosecond", "nanoseconds")

  private val Space = "[\\s\\x1c-\\x1f]"
  private val Number = "([0-9]{1,20}(?:\\.[0-9]{1,20})?)"
  private val OnePart =
    Pattern.compile(s"$Number$Space*([a-zA-Zµμ]+)$Space*", Pattern.UNICODE_CHARACTER_CLASS)
  private val Iso = Pattern.compile(
    s"P(?:${Number}Y)?(?:${Number}M)?(?:${Number}W)?(?:${Number}D)?" +
      s"(?:T(?=[0-9])(?:${Number}H)?(?:${Number}M)?(?:${Number}S)?)?",
    Pattern.CASE_INSENSITIVE
  )
  private val IsoUnits = Seq("years", "months", "w", "d", "h", "m", "s")
  private val Outer =
    Pattern.compile(s"^$Space+|$Space+$$", Pattern.UNICODE_CHARACTER_CLASS)
  private val Interval = Pattern.compile(
    s"^interval$Space+",
    Pattern.UNICODE_CHARACTER_CLASS | Pattern.CASE_INSENSITIVE
  )

  /** The names of all units of fixed length. */
  def allNames: Seq[String] = Units.flatMap(_._2)

  // Units of one and two letters are case-sensitive, because M may mean a month.
  def inLowerCase(unit: String): String =
    if (unit.length <= 2) unit else unit.toLowerCase(Locale.ROOT)

  /** The length of a unit in microseconds, None if it is unknown or varies. */
  def micros(unit: String): Option[Long] = MicrosOf.get(inLowerCase(unit))

  def stripped(text: String): String = Outer.matcher(text).replaceAll("")

  /** The sign of a text, and the text without it and without Spark's word `interval`. */
  def signed(text: String): Signed = {
    val bare = Interval.matcher(stripped(String.valueOf(text))).replaceFirst("")
    if (bare.startsWith("-")) Signed(-1, bare.substring(1)) else Signed(1, bare)
  }

  /** The parts in their order, empty if the text is not a duration. */
  def parts(text: String): Seq[Part] = {
    val iso = Iso.matcher(text)
    if (iso.matches())
      IsoUnits.zipWithIndex.flatMap { case (unit, i) =>
        Option(iso.group(i + 1)).map(Part(_, unit))
      }
    else inWords(text)
  }

  // A loop: the stack of a repeated group would grow with the text.
  private def inWords(text: String): Seq[Part] = {
    val found = mutable.ArrayBuffer.empty[Part]
    val part = OnePart.matcher(text)
    var at = 0
    while (at < text.length && part.region(at, text.length).lookingAt()) {
      found += Part(part.group(1), part.group(2))
      at = part.end
    }
    if (at == text.length) found.toSeq else Nil
  }
}
