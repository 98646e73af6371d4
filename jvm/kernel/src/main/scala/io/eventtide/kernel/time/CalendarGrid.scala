package io.eventtide.kernel.time

import java.time.Instant
import java.time.LocalDateTime
import java.time.Period
import java.time.ZoneId
import java.time.temporal.ChronoUnit

import io.eventtide.kernel.InvalidArgument

/** Calendar frames of whole days or months, counted from an origin.
  *
  *   - '''Guarantee:''' a frame starts at the first instant at which the zone's local time reaches
  *     the frame's boundary. A day therefore has 23 or 25 hours where the offset changes.
  *   - '''Units:''' microseconds since 1970.
  *   - '''Edges:''' a boundary in a gap is the instant of the transition; a boundary in an overlap
  *     is its earlier occurrence. A day that the zone skips is an empty frame. In a month without
  *     the origin's day of month, the frame starts on the last day.
  *   - '''Restart:''' immutable except for the frame found last, which is cached so that the next
  *     row in it is cheap.
  *   - '''Source:''' `java.time`; SQL intervals of days and months.
  *
  * @param count number of units in a frame, above zero
  * @param unit days or months
  * @param origin start of the frame with number 0
  */
final case class CalendarGrid private (
    count: Int,
    unit: ChronoUnit,
    zone: ZoneId,
    origin: LocalDateTime
) extends FrameGrid {
  import CalendarGrid._

  private var last = Found(0, 0, 0) // an empty frame: contains no time
  private val lowest = guess(Long.MinValue)
  private val highest = guess(Long.MaxValue) + Guesses

  def index(ts: Long): Long = {
    var found = last // read once: another thread may replace it; `Found` is immutable
    if (ts < found.from || ts >= found.until) {
      found = find(ts)
      last = found
    }
    found.index
  }

  def start(index: Long): Long =
    if (index <= lowest) Long.MinValue
    else if (index >= highest) Long.MaxValue
    else microsOf(firstInstant(origin.plus(index * count, unit)))

  private def find(ts: Long): Found = {
    var index = guess(ts)
    var next = start(index + 1)
    while (next <= ts && next < Long.MaxValue) {
      index += 1
      next = start(index + 1)
    }
    Found(index, start(index), next)
  }

  /** A frame number at or below the frame of `ts`, by less than `Guesses`. */
  private def guess(ts: Long): Long = {
    val local = LocalDateTime.ofInstant(instantOf(ts), zone)
    Math.floorDiv(unit.between(origin, local), count.toLong) - 1
  }

  private def firstInstant(local: LocalDateTime): Instant = {
    val change = zone.getRules.getTransition(local)
    if (change != null && change.isGap) change.getInstant
    else local.atZone(zone).withEarlierOffsetAtOverlap.toInstant
  }
}

object CalendarGrid {

  /** @param period days, weeks, months or years, but not days together with months */
  def apply(period: Period, zone: ZoneId, origin: LocalDateTime): CalendarGrid = {
    val (days, months) = (period.getDays, period.toTotalMonths)
    if (days > 0 && months == 0) new CalendarGrid(days, ChronoUnit.DAYS, zone, origin)
    else if (months > 0 && days == 0)
      new CalendarGrid(Math.toIntExact(months), ChronoUnit.MONTHS, zone, origin)
    else throw new InvalidArgument("calendar frame", period, "days or months, above zero")
  }

  private final case class Found(index: Long, from: Long, until: Long)

  /** Bounds the error of `guess`: an offset change goes back by a day at most, and the frame of a
    * short month starts before the origin's day.
    */
  private val Guesses = 4

  private def instantOf(micros: Long): Instant = Instant.ofEpochSecond(
    Math.floorDiv(micros, 1000000L),
    Math.floorMod(micros, 1000000L) * 1000
  )

  // Both terms have the same sign, so a product that is clamped stays clamped in the sum.
  private def microsOf(instant: Instant): Long = {
    val (seconds, micros) = (instant.getEpochSecond, instant.getNano / 1000L)
    if (seconds >= 0) Clamped.add(Clamped.multiply(seconds, 1000000), micros)
    else Clamped.add(Clamped.multiply(seconds + 1, 1000000), micros - 1000000)
  }
}
