package io.eventtide.spark.query.monitor

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.watermark.{
  Activity,
  SubstreamReport,
  SubstreamSummary,
  ThrottleByFrame,
  WatermarkStatus
}
import io.eventtide.spark.latelog.LateCounts
import io.eventtide.spark.options.{Durations, SubstreamDescription, WatermarkOptionsCodec}
import io.eventtide.spark.spi.BatchEventTimeStats

class WatermarkDiagnosisSuite extends AnyFunSuite {
  private val Minute = 60000000L
  private val Noon = 1767268800000000L // 2026-01-01 12:00:00 UTC

  private val settings =
    WatermarkOptionsCodec.watermark(
      Map("policy" -> "with_fixed_lag", "lag" -> "PT1M"),
      SubstreamDescription.named("name")
    )

  /** A substream whose watermark is a minute behind its top. */
  private def seen(name: String, top: Long, activity: Activity = Activity.Active) =
    new SubstreamReport(name, Some(top), Some(top - Minute), 10, activity, Noon)

  private def unseen(name: String) =
    new SubstreamReport(name, None, None, 0, Activity.Expected, Noon)

  private def input(position: Int, substreams: SubstreamReport*): InputReport = {
    val counting = substreams.filterNot(_.activity.isIdle).map(_.watermark)
    val ideal = counting.minOption.flatten
    InputReport(
      position,
      settings,
      WatermarkStatus.Value,
      ideal,
      ideal,
      0,
      0,
      new SubstreamSummary(substreams.size, idle = 0, spread = None, substreams),
      BatchEventTimeStats.Empty,
      SubstreamLimit(substreams.size, most = 100000, reachedInMicros = None)
    )
  }

  private def said(inputs: InputReport*): String = report(inputs: _*).blame

  private def report(inputs: InputReport*): WatermarkReport = {
    val ideals = inputs.map(_.idealMicros)
    val ideal = ideals.minOption.flatten
    WatermarkReport(7, Noon, ideal, ideal, isHolding = false, LateCounts.None, inputs)
  }

  test("the lowest substream is to blame: where, behind whom, since when, and what would help") {
    assert(
      said(input(0, seen("a", Noon), seen("b", Noon - 14 * Minute))) ==
        "'b' holds the watermark at 2026-01-01 11:45:00 UTC, 14m behind 'a', last seen at " +
        "2026-01-01 12:00:00 UTC; if it were idle, the watermark would advance to " +
        "2026-01-01 11:59:00 UTC."
    )
  }

  test("an input without rows is to blame, whatever the others are at") {
    val unseen = input(1).copy(status = WatermarkStatus.Unknown)
    val text = said(input(0, seen("a", Noon), seen("b", Noon - 14 * Minute)), unseen)
    assert(text == "No row of input 1 has been read yet, so there is no watermark.")
    val idle = said(input(0, seen("a", Noon)), input(1).copy(status = WatermarkStatus.Idle))
    assert(idle.startsWith("'a' of input 0 holds the watermark"))
  }

  test("when none is behind the others, all hold it; a throttle is named") {
    val equal = report(input(0, seen("a", Noon), seen("b", Noon)))
    assert(
      equal.blame == "No substream is behind the others: all hold the watermark at " +
        "2026-01-01 11:59:00 UTC, last seen at 2026-01-01 12:00:00 UTC."
    )
    val behind = equal.copy(emittedMicros = Some(Noon - 2 * Minute))
    assert(behind.blame == equal.blame)
    val byMinute = settings.copy(throttles = Seq(ThrottleByFrame(Minute)))
    val throttled = behind.copy(inputs = behind.inputs.map(_.copy(settings = byMinute)))
    val note = " The throttle has emitted 2026-01-01 11:58:00 UTC so far."
    assert(throttled.blame == equal.blame + note)
  }

  test("one that is expected and not seen is to blame first") {
    assert(
      said(input(0, seen("a", Noon), unseen("b"))) ==
        "'b' has not been seen since 2026-01-01 12:00:00 UTC, so there is no watermark; if it " +
        "were idle, the watermark would advance to 2026-01-01 11:59:00 UTC."
    )
    val several = said(input(0, unseen("a"), unseen("b")))
    assert(
      several.endsWith(
        "if it were idle, there would still be none, because others are unknown too."
      )
    )
  }

  test("a substream with a backlog cannot be idle") {
    val text =
      said(input(0, seen("t/0", Noon), seen("t/1", Noon - Minute, Activity.Backlogged)))
    assert(
      text.endsWith(
        "; its partition has unread rows, so it cannot be idle; if a filter removes " +
          "all of them, name another substream."
      )
    )
  }

  test("the last active one would release the highest watermark, also that of an idle one") {
    val text = said(input(0, seen("a", Noon, Activity.TimedOut), seen("b", Noon - 5 * Minute)))
    assert(text.startsWith("'b' holds the watermark at 2026-01-01 11:54:00 UTC, 5m behind 'a'"))
    assert(
      text.endsWith("if it were idle, the watermark would advance to 2026-01-01 11:59:00 UTC.")
    )
  }

  test("a single substream is behind nobody") {
    assert(
      said(input(0, seen("a", Noon + 1500))) ==
        "'a' holds the watermark at 2026-01-01 11:59:00.0015 UTC, last seen at " +
        "2026-01-01 12:00:00 UTC; if it were idle, the watermark would not move."
    )
  }

  test("the lowest input is to blame, and the others limit what idleness would give") {
    val both = said(
      input(0, seen("a", Noon)),
      input(1, seen("x", Noon - 9 * Minute), seen("y", Noon + Minute))
    )
    assert(
      both.startsWith(
        "'x' of input 1 holds the watermark at 2026-01-01 11:50:00 UTC, 10m behind 'y'"
      )
    )
    assert(
      both.endsWith("if it were idle, the watermark would advance to 2026-01-01 11:59:00 UTC.")
    )
    val alone = said(input(0, seen("a", Noon)), input(1, seen("x", Noon - 9 * Minute)))
    assert(alone.contains("11:50:00 UTC, last seen at 2026"))
    assert(
      alone.endsWith("if it were idle, the watermark would advance to 2026-01-01 11:59:00 UTC.")
    )
  }

  test("an idle input is not to blame; nor is anybody when all are idle") {
    val idle = input(1, seen("x", Noon - 9 * Minute, Activity.TimedOut))
    val text = said(input(0, seen("a", Noon)), idle)
    assert(text.startsWith("'a' of input 0 holds the watermark"))
    val none = report(input(0, seen("a", Noon, Activity.TimedOut)))
    assert(
      none.copy(idealMicros = Some(Noon - Minute)).blame ==
        "No substream holds the watermark back at 2026-01-01 11:59:00 UTC: every substream is idle."
    )
  }

  test("before the first row there is nobody to blame") {
    val none =
      "No substream holds the watermark back: there is none, because no row has been read yet."
    assert(said(input(0)) == none && said() == none)
  }

  test("rows that were all refused are to blame") {
    val refused = input(0, unseen("all")).copy(badTime = 5, future = 1)
    assert(
      said(refused) ==
        "There is no watermark, because no row could be used: 5 had no event time that Spark can " +
        "show, 1 were too far ahead of the clock."
    )
  }

  test("a start that holds the clock is to blame before any substream, where a clock moves it") {
    val withTimeout = WatermarkOptionsCodec.watermark(
      Map("policy" -> "with_fixed_lag", "lag" -> "PT1M", "substream_idle_timeout" -> "PT5M"),
      SubstreamDescription.named("name")
    )
    val byRows = input(0, seen("a", Noon))
    val due = Outlook(Some(Noon), nextMove = Some(Noon), Nil)
    val waits = report(byRows.copy(settings = withTimeout)).copy(isHolding = true)
    assert(waits.blame == report(byRows).blame) // only rows move it
    val held = waits.copy(outlook = due)
    assert(
      held.copy(emittedMicros = Some(Noon - 9 * Minute)).blame ==
        "The restart holds the watermark at 2026-01-01 11:51:00 UTC until the sources have caught " +
        "up; with on_restart 'resume' the clock would advance it at once."
    )
    assert(report(byRows).copy(isHolding = true).blame == report(byRows).blame)
  }

  test("lengths of time in words") {
    assert(Seq(5400000000L, 250000L, 0L).map(Durations.inWords) == Seq("1h 30m", "250ms", "0s"))
  }
}
