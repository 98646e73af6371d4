package io.eventtide.kernel.time

import java.time.Instant
import java.time.LocalDate
import java.time.LocalDateTime
import java.time.LocalTime
import java.time.Period
import java.time.ZoneId
import java.time.ZoneOffset
import java.time.temporal.ChronoUnit

import scala.jdk.CollectionConverters._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.InvalidArgument

final class CalendarGridSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import CalendarGridSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private def grid(period: String, zone: String, origin: String = "1970-01-01"): CalendarGrid =
    CalendarGrid(Period.parse(period), ZoneId.of(zone), LocalDate.parse(origin).atStartOfDay)

  private def micros(instant: String): Long = microsOf(Instant.parse(instant))

  /** The first instant of the frame that the time is in, and of the next one. */
  private def frame(grid: CalendarGrid, instant: String): (String, String) = {
    val index = grid.index(micros(instant))
    (shown(grid.start(index)), shown(grid.start(index + 1)))
  }

  private def shown(micros: Long): String = Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString

  test("a day has 23 hours when clocks go forward and 25 when they go back") {
    val berlin = grid("P1D", "Europe/Berlin")
    val spring = ("2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z")
    assert(frame(berlin, "2024-03-31T12:00:00Z") == spring)
    val autumn = ("2024-10-26T22:00:00Z", "2024-10-27T23:00:00Z")
    assert(frame(berlin, "2024-10-27T12:00:00Z") == autumn)
  }

  test("a day without a midnight begins at the first instant that it has") {
    val brazil = ("2017-10-15T03:00:00Z", "2017-10-16T02:00:00Z")
    assert(frame(grid("P1D", "America/Sao_Paulo"), "2017-10-15T12:00:00Z") == brazil)
    val lebanon = ("2024-03-30T22:00:00Z", "2024-03-31T21:00:00Z")
    assert(frame(grid("P1D", "Asia/Beirut"), "2024-03-31T12:00:00Z") == lebanon)
  }

  test("a day that has midnight twice begins at the first one") {
    val havana = grid("P1D", "America/Havana") // 2023-11-05 goes back at 01:00
    assert(frame(havana, "2023-11-05T04:30:00Z")._1 == "2023-11-05T04:00:00Z")
    assert(frame(havana, "2023-11-05T05:30:00Z")._1 == "2023-11-05T04:00:00Z")
  }

  test("a time that is back on the day before still belongs to the day that had begun") {
    val johns = grid("P1D", "America/St_Johns") // 2006-10-29 00:01 became 2006-10-28 23:01
    assert(frame(johns, "2006-10-29T02:30:30Z")._1 == "2006-10-29T02:30:00Z")
    assert(frame(johns, "2006-10-29T03:00:00Z")._1 == "2006-10-29T02:30:00Z")
  }

  test("a day that was left out is empty, and the next one begins where it would have") {
    val samoa = grid("P1D", "Pacific/Apia") // there was no 2011-12-30
    val before = ("2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z")
    assert(frame(samoa, "2011-12-30T09:59:59Z") == before)
    assert(frame(samoa, "2011-12-30T10:00:00Z")._1 == "2011-12-30T10:00:00Z")
    val index = samoa.index(micros("2011-12-30T10:00:00Z"))
    assert(index == samoa.index(micros("2011-12-30T09:59:59Z")) + 2)
  }

  test("days may begin at any time of the clock, also at one that it leaves out") {
    val origin = LocalDateTime.parse("2024-01-01T02:30:00")
    val days = CalendarGrid(Period.ofDays(1), ZoneId.of("Europe/Berlin"), origin)
    val spring = ("2024-03-31T01:00:00Z", "2024-04-01T00:30:00Z")
    assert(frame(days, "2024-03-31T12:00:00Z") == spring)
    assert(frame(days, "2024-10-27T12:00:00Z")._1 == "2024-10-27T00:30:00Z")
  }

  test("weeks and months are counted from the origin, both ways") {
    val weeks = grid("P14D", "UTC", "2024-01-01")
    assert(weeks.index(micros("2024-01-14T23:59:59.999999Z")) == 0)
    assert(weeks.index(micros("2023-12-31T23:59:59.999999Z")) == -1)
    val quarters = grid("P3M", "UTC", "2024-02-01")
    assert(frame(quarters, "2024-01-31T12:00:00Z")._1 == "2023-11-01T00:00:00Z")
    assert(quarters.index(micros("2025-02-01T00:00:00Z")) == 4)
  }

  test("months from the last day of a month begin on the last day that there is") {
    val months = grid("P1M", "UTC", "2024-01-31")
    val february = ("2024-02-29T00:00:00Z", "2024-03-31T00:00:00Z")
    assert(frame(months, "2024-03-15T12:00:00Z") == february)
    assert(frame(months, "2023-02-28T00:00:00Z")._1 == "2023-02-28T00:00:00Z")
  }

  test("a frame is found as by walking over the calendar, whatever was asked before") {
    forAll(grids, Gen.nonEmptyListOf(instants)) { (grid, instants) =>
      instants.map(at => microsOf(at.instantIn(grid.zone))).foreach { ts =>
        val index = grid.index(ts)
        assert(grid.start(index) == naiveStart(grid, index))
        assert(grid.start(index) <= ts && ts < grid.start(index + 1))
      }
    }
  }

  test("days follow each other about every change of clocks that there has been") {
    for {
      zone <- ZoneId.getAvailableZoneIds.asScala.toSeq.map(ZoneId.of).distinctBy(_.getRules)
      days = CalendarGrid(Period.ofDays(1), zone, LocalDateTime.parse("1970-01-01T00:00:00"))
      change <- zone.getRules.getTransitions.asScala.map(change => microsOf(change.getInstant))
    } {
      val times = Seq(-90000000000L, -1L, 0L, 3600000000L, 90000000000L).map(change + _)
      times.foreach { ts =>
        val index = days.index(ts)
        assert(days.start(index) <= ts && ts < days.start(index + 1), s"$zone at $ts")
      }
      assert(times.map(days.index) == times.map(days.index).sorted)
    }
  }

  test("numbers never fall as time rises") {
    forAll(grids, instants, instants) { (grid, one, other) =>
      val times = Seq(one, other).map(at => microsOf(at.instantIn(grid.zone))).sorted
      assert(grid.index(times.head) <= grid.index(times.last))
    }
  }

  test("times that no calendar has are in the frames at its ends") {
    for (period <- Seq("P1D", "P7D", "P1M", "P12M"); zone <- Seq("UTC", "Asia/Kathmandu")) {
      val one = grid(period, zone)
      assert(one.index(Long.MinValue) <= one.index(micros("0001-01-01T00:00:00Z")))
      assert(one.index(Long.MaxValue) >= one.index(micros("9999-12-31T23:59:59Z")))
      assert(one.start(Long.MinValue) == Long.MinValue && one.start(Long.MaxValue) == Long.MaxValue)
      for (ts <- Seq(Long.MinValue, Long.MaxValue)) {
        val index = one.index(ts)
        assert(one.start(index) <= ts && ts <= one.start(index + 1))
      }
    }
  }

  test("periods that are not days or months, or are not above zero, are refused") {
    for (period <- Seq("P1M1D", "P0D", "P-1D", "P-1M"))
      assert(intercept[InvalidArgument](grid(period, "UTC")).getMessage.contains("calendar frame"))
    assert(grid("P1Y", "UTC") == grid("P12M", "UTC"))
    assert(grid("P2W", "UTC") == grid("P14D", "UTC"))
  }

  test("a grid that was sent to a task finds the same frames") {
    val sent = grid("P1D", "Europe/Berlin")
    val ts = micros("2024-03-31T12:00:00Z")
    val index = sent.index(ts)
    val bytes = new java.io.ByteArrayOutputStream
    new java.io.ObjectOutputStream(bytes).writeObject(sent)
    val in = new java.io.ObjectInputStream(new java.io.ByteArrayInputStream(bytes.toByteArray))
    val copy = in.readObject().asInstanceOf[CalendarGrid]
    assert(copy == sent && copy.index(ts) == index)
  }
}

object CalendarGridSuite {
  def microsOf(instant: Instant): Long =
    Math.addExact(Math.multiplyExact(instant.getEpochSecond, 1000000), instant.getNano / 1000L)

  /** A local time, from which a zone makes an instant: so that changes of clocks are met. */
  final case class At(local: LocalDateTime, shift: Long) {
    def instantIn(zone: ZoneId): Instant =
      local.atZone(zone).toInstant.plus(shift, ChronoUnit.MICROS)
  }

  private val zones: Gen[ZoneId] = Gen
    .frequency(
      3 -> Gen.oneOf(
        "UTC",
        "Europe/Berlin",
        "America/Sao_Paulo",
        "Asia/Beirut",
        "America/Havana",
        "America/St_Johns",
        "Pacific/Apia",
        "Africa/Cairo",
        "Asia/Manila"
      ),
      1 -> Gen.oneOf(ZoneId.getAvailableZoneIds.asScala.toSeq.sorted)
    )
    .map(ZoneId.of)

  private val periods: Gen[Period] = Gen.oneOf(
    Gen.oneOf(1, 2, 7, 14, 100).map(Period.ofDays),
    Gen.oneOf(1, 2, 3, 12, 120).map(Period.ofMonths)
  )

  private val dates: Gen[LocalDate] = Gen
    .frequency(
      2 -> Gen.choose(LocalDate.of(1850, 1, 1).toEpochDay, LocalDate.of(2060, 1, 1).toEpochDay),
      1 -> Gen.choose(LocalDate.of(1, 1, 2).toEpochDay, LocalDate.of(9999, 12, 30).toEpochDay)
    )
    .map(LocalDate.ofEpochDay(_))

  val grids: Gen[CalendarGrid] = for {
    period <- periods
    zone <- zones
    origin <- dates
    second <- Gen.oneOf(Gen.const(0), Gen.choose(0, 86399))
  } yield CalendarGrid(period, zone, origin.atTime(LocalTime.ofSecondOfDay(second.toLong)))

  /** Any time of a day, more often about midnight, and days on which clocks changed. */
  val instants: Gen[At] = for {
    date <- Gen.oneOf(
      dates,
      Gen
        .oneOf("2017-10-15", "2024-03-31", "2006-10-29", "2011-12-30", "1844-12-31", "2010-08-11")
        .map(LocalDate.parse)
    )
    second <- Gen.oneOf(Gen.choose(0, 7200), Gen.choose(0, 86399))
    shift <- Gen.oneOf(Gen.const(0L), Gen.choose(-1L, 1L), Gen.choose(-3600000000L, 3600000000L))
  } yield At(LocalDateTime.of(date, LocalTime.ofSecondOfDay(second.toLong)), shift)

  /** The first instant at which clocks show the frame's local time or a later one.
    *
    * It is that local time under one of the offsets about then, or the moment of a change.
    */
  def naiveStart(grid: CalendarGrid, index: Long): Long = {
    val local = grid.origin.plus(index * grid.count, grid.unit)
    val offsets = (-48 to 48).map(hour => grid.zone.getRules.getOffset(utc(local, hour))).distinct
    val changes = Iterator
      .iterate(grid.zone.getRules.nextTransition(utc(local, -48)))(change =>
        grid.zone.getRules.nextTransition(change.getInstant)
      )
      .takeWhile(change => change != null && change.getInstant.isBefore(utc(local, 48)))
      .map(_.getInstant)
    val candidates = offsets.map(local.toInstant(_)) ++ changes
    val reached = candidates.filter(at => !LocalDateTime.ofInstant(at, grid.zone).isBefore(local))
    microsOf(reached.min)
  }

  private def utc(local: LocalDateTime, hours: Int): Instant =
    local.plusHours(hours.toLong).toInstant(ZoneOffset.UTC)
}
