package io.eventtide.kernel.time

import java.time.Instant
import java.time.LocalDateTime
import java.time.Period
import java.time.ZoneId
import java.time.temporal.ChronoUnit

import io.eventtide.kernel.InvalidArgument

/** Frames of whole days or months as a calendar has them, counted from an origin.
  *
  *   - '''Guarantee:''' a frame starts at the first instant at which clocks in the zone have
  *     reached its local time, so that days have 23 or 25 hours where clocks change.
  *   - '''Units:''' microseconds since 1970.
  *   - '''Edges:''' a local time that clocks leave out is the instant at which they do; of one that
  *     they show twice the first counts. A day that was left out whole is a frame of no length. A
  *     month without the origin's day starts on its last one.
  *   - '''Restart:''' immutable but for the frame found last, which makes the next row of it cheap.
  *   - '''Source:''' `java.time`; SQL's intervals of days and months.
  *
  * @param count how many units a frame has, above zero
  * @param unit days or months
  * @param origin where the frame with number 0 starts
  */
final case class CalendarGrid private (
    count: Int,
    unit: ChronoUnit,
    zone: ZoneId,
    origin: LocalDateTime
) extends FrameGrid {
  import CalendarGrid._

  private var last = Found(0, 0, 0) // of no length: no time is in it
  private val lowest = guess(Long.MinValue)
  private val highest = guess(Long.MaxValue) + Guesses

  def index(ts: Long): Long = {
    var found = last // read once: whatever another thread puts there is right as a whole
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

  /** At or below the number of the frame that `ts` is in, by less than `Guesses`. */
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

  /** @param period days, weeks, months or years, but not days beside months */
  def apply(period: Period, zone: ZoneId, origin: LocalDateTime): CalendarGrid = {
    val (days, months) = (period.getDays, period.toTotalMonths)
    if (days > 0 && months == 0) new CalendarGrid(days, ChronoUnit.DAYS, zone, origin)
    else if (months > 0 && days == 0)
      new CalendarGrid(Math.toIntExact(months), ChronoUnit.MONTHS, zone, origin)
    else throw new InvalidArgument("calendar frame", period, "days or months, above zero")
  }

  private final case class Found(index: Long, from: Long, until: Long)

  /** Clocks go back by a day at most, and a short month's frame starts before the origin's day. */
  private val Guesses = 4

  private def instantOf(micros: Long): Instant = Instant.ofEpochSecond(
    Math.floorDiv(micros, 1000000L),
    Math.floorMod(micros, 1000000L) * 1000
  )

  // From zero towards the instant, so that what is clamped first is outside the range for good.
  private def microsOf(instant: Instant): Long = {
    val (seconds, micros) = (instant.getEpochSecond, instant.getNano / 1000L)
    if (seconds >= 0) Clamped.add(Clamped.multiply(seconds, 1000000), micros)
    else Clamped.add(Clamped.multiply(seconds + 1, 1000000), micros - 1000000)
  }
}
