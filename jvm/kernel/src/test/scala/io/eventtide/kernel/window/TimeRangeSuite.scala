package io.eventtide.kernel.window

import java.time.{LocalDateTime, Period, ZoneId}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.rowwindow.{RetainedRowSpec, WindowLength}
import io.eventtide.kernel.time.{CalendarGrid, Frame, FrameGrid}

/** Which rows have windows inside a range as a whole. */
final class TimeRangeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val range = TimeRange(-100, 100)

  private val shapes: Gen[WindowShape] = for {
    frames <- Gen.choose(1, 6)
    phase <- Gen.choose(0, frames - 1)
    shape <- Gen.oneOf(Sliding(frames), Cumulative(frames, phase))
  } yield shape

  private val frames: Gen[FrameGrid] = for {
    size <- Gen.choose(1L, 12L)
    offset <- Gen.choose(0L, size - 1)
  } yield Frame(size, offset)

  private def isInside(spec: WindowSpec, ts: Long): Boolean = {
    val frame = spec.frames.index(ts)
    val ends = (frame + 1) to spec.shape.lastEnd(frame)
    ends.forall { end =>
      spec.grid.start(spec.shape.start(end)) >= range.lowest &&
      spec.grid.start(end) + spec.delay <= range.highest
    }
  }

  test("windows of time are inside exactly for the times that are said") {
    forAll(shapes, frames, Gen.oneOf(Profile.all), Gen.choose(0L, 30L)) {
      (shape, grid, profile, delay) =>
        val spec = WindowSpec(grid, shape, profile, delay)
        val TimeRange(lowest, highest) = spec.within(range)
        (-100L to 100L).foreach { ts =>
          assert(isInside(spec, ts) == (ts >= lowest && ts <= highest), s"$spec at $ts")
        }
    }
  }

  test("no time is inside where no window is") {
    val TimeRange(lowest, highest) = WindowSpec(Frame(300), Sliding(1)).within(range)
    assert(lowest > highest)
  }

  test("windows of the calendar are inside the years that can be shown") {
    val years = TimeRange(-62135596800000000L, 253402300799999999L)
    val day = 86400000000L
    Seq("UTC", "Asia/Tokyo", "America/New_York").map(ZoneId.of).foreach { zone =>
      Seq(Period.ofDays(1), Period.ofMonths(1), Period.ofYears(1)).foreach { length =>
        val grid = CalendarGrid(length, zone, LocalDateTime.parse("1970-01-01T00:00"))
        val spec = WindowSpec(grid, Sliding(2))
        val TimeRange(lowest, highest) = spec.within(years)
        assert(isPeek(spec, lowest, years) && isPeek(spec, highest, years))
        assert(!isPeek(spec, lowest - 1, years) && !isPeek(spec, highest + 1, years))
        assert(lowest - years.lowest < 800 * day && years.highest - highest < 1200 * day)
      }
    }
  }

  private def isPeek(spec: WindowSpec, ts: Long, years: TimeRange): Boolean = {
    val frame = spec.frames.index(ts)
    spec.grid.start(spec.shape.start(frame + 1)) >= years.lowest &&
    spec.grid.start(spec.shape.lastEnd(frame)) <= years.highest
  }

  test("a session is inside with its gap and its delay") {
    assert(SessionSpec(gap = Some(7L), delay = 3).within(range) == TimeRange(-100, 90))
    assert(SessionSpec(Some(Long.MaxValue), delay = 3).within(range).highest < range.lowest)
    assert(SessionSpec(gap = None, delay = 3).within(range) == TimeRange(-100, 97))
  }

  test("windows of Storm's are inside exactly for the times that are said") {
    forAll(Gen.choose(1L, 30L), Gen.choose(1L, 30L)) { (length, slide) =>
      val spec = RetainedRowSpec(WindowLength.Time(length), WindowLength.Time(slide))
      val TimeRange(lowest, highest) = spec.within(range)
      (-100L to 100L).foreach { ts =>
        val first = Frame(slide).ceiling(ts)
        val ends =
          Iterator.iterate(first)(_ + slide).takeWhile(end => ts > end - length || end == first)
        val inside = ends.forall(end => end - length >= -100 && end <= 100)
        assert(inside == (ts >= lowest && ts <= highest), s"$spec at $ts")
      }
    }
    assert(
      RetainedRowSpec(WindowLength.Time(9), WindowLength.Rows(2)).within(range) == TimeRange(
        -91,
        100
      )
    )
    assert(RetainedRowSpec(WindowLength.Rows(9), WindowLength.Rows(2)).within(range) == range)
  }
}
