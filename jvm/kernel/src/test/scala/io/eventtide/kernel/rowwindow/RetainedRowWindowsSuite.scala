package io.eventtide.kernel.rowwindow

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument

/** Single rules of Storm's windows, and those of its defects that are none here. */
final class RetainedRowWindowsSuite extends AnyFunSuite {
  import WindowLength.{Rows, Time}

  private def run(length: WindowLength, slide: WindowLength, keepsLast: Boolean = true) =
    new StormRun(
      RetainedRowSpec(length, slide),
      RowLimits(rows = 2, bytes = 100, atHand = 3),
      keepsLast
    )

  private def windowsOf(run: StormRun, watermark: Long, rows: (String, Long)*) = {
    rows.foreach { case (name, ts) => run.add(name, ts) }
    run.advance(Some(watermark))._2
  }

  private def ends(panes: Seq[StormPane]) = panes.map(pane => pane.end -> pane.rows.mkString)

  test("a row that equals the watermark and a window's end is in the window, which waits for it") {
    val windows = run(Time(20), Time(10))
    assert(ends(windowsOf(windows, 20, "a" -> 5, "b" -> 20)) == Seq(10 -> "a"))
    assert(ends(windowsOf(windows, 40, "c" -> 20, "e" -> 40)) == Seq(20 -> "abc", 30 -> "bc"))
    assert(ends(windows.finish()._2) == Seq(40 -> "e", 50 -> "e"))
  }

  test("rows are looked for behind those from far ahead") {
    val windows = run(Time(10), Time(10))
    assert(
      ends(windowsOf(windows, 12, "a" -> 100, "b" -> 5, "c" -> 8, "d" -> 12)) == Seq(10 -> "bc")
    )
    assert(ends(windowsOf(windows, 45, "e" -> 45)) == Seq(20 -> "d"))
  }

  test("every row counts once, wherever its time is") {
    val windows = run(Rows(2), Rows(2))
    assert(ends(windowsOf(windows, 30, "a" -> 10, "b" -> 30)) == Seq(30 -> "ab"))
    assert(ends(windowsOf(windows, 40, "c" -> 30, "d" -> 40)) == Seq(40 -> "cd"))
    val onePass = run(Rows(2), Rows(2))
    val rows = Seq("a" -> 10L, "b" -> 30L, "c" -> 20L, "d" -> 40L)
    assert(ends(windowsOf(onePass, 40, rows: _*)) == Seq(30 -> "ab", 40 -> "cd"))
  }

  test("what is new and what has expired is told between one window and the one given before it") {
    val windows = run(Time(20), Time(10))
    val first =
      windowsOf(windows, 31, "1" -> 3, "2" -> 5, "3" -> 7, "4" -> 18, "5" -> 26, "6" -> 36)
    assert(first.map(_.fresh) == Seq(Set("1", "2", "3"), Set("4"), Set("5")))
    assert(first.map(_.expired) == Seq(Set(), Set(), Set("1", "2", "3")))
    val second = windowsOf(windows, 234, "7" -> 225, "8" -> 226, "9" -> 227, "10" -> 239)
    assert(ends(second) == Seq(40 -> "56", 50 -> "6", 230 -> "789"))
    assert(second.map(_.fresh) == Seq(Set("6"), Set(), Set("7", "8", "9")))
    assert(second.map(_.expired) == Seq(Set("4"), Set("5"), Set("6")))
  }

  test("a window of rows repeats them at each slide, but over a long gap at the last one only") {
    val windows = run(Rows(2), Time(10))
    val times = windowsOf(windows, 1000000, "a" -> 5, "b" -> 7, "c" -> 900005).map(_.end)
    assert(times.take(3) == Seq(10, 20, 30))
    assert(times.slice(999, 1003) == Seq(10000, 10010, 900000, 900010))
    assert(times.length == 1003 + 1001)
    assert(times.last == 999990)
  }

  test("nothing is given before there is a watermark, and times below zero are times") {
    val windows = run(Time(10), Time(10))
    windows.add("a", -5)
    assert(windows.advance(None) == ((Nil, Nil)))
    assert(ends(windowsOf(windows, 1)) == Seq(0 -> "a"))
  }

  test("a key says from which watermark on it has something to give") {
    val byTime = run(Time(20), Time(10))
    windowsOf(byTime, 0, "a" -> 5)
    assert(byTime.due == 11)
    windowsOf(byTime, 15)
    assert(byTime.due == 21)
    windowsOf(byTime, 25)
    assert(byTime.due == RetainedRowWindows.Never)
    val byCount = run(Rows(2), Rows(2))
    windowsOf(byCount, 4, "a" -> 5, "b" -> 9)
    assert(byCount.due == 5)
  }

  test("a row costs no more than a few writes, however few come at once") {
    val windows =
      new StormRun(RetainedRowSpec(Time(1000000), Time(1000000)), RowLimits(rows = 64))
    for (ts <- 1L to 4096) {
      windows.add("x" * 100, ts)
      windows.advance(Some(ts)): Unit
    }
    assert(windows.rows.blocks.size <= 4096 / 64 + 6)
    assert(windows.rows.bytesWritten <= 4096 * 105L * 7) // a block doubles six times
  }

  test("blocks that no window needs are not read") {
    val windows = new StormRun(RetainedRowSpec(Time(10), Time(10)), RowLimits(rows = 4))
    for (ts <- 1L to 4000) windows.add("x", ts)
    windows.advance(Some(0)): Unit
    for (watermark <- 11L to 401 by 10) {
      val before = windows.rows.reads
      assert(windowsOf(windows, watermark).map(_.rows.length) == Seq(10))
      assert(windows.rows.reads - before <= 7)
    }
  }

  test("rows that can be in no window to come are no reason to keep a key") {
    val byCount = run(Time(10), Rows(3), keepsLast = true)
    windowsOf(byCount, 5, "a" -> 1, "b" -> 5): Unit
    assert(byCount.isPending)
    assert(byCount.due == 15)
    windowsOf(byCount, 15): Unit
    assert(!byCount.isPending)
    assert(byCount.due == RetainedRowWindows.Never)
    val gaps = run(Rows(1), Rows(10), keepsLast = true)
    windowsOf(gaps, 5, "a" -> 1, "b" -> 2): Unit
    assert(!gaps.isPending)
    val last = run(Rows(2), Rows(3), keepsLast = true)
    windowsOf(last, 5, "a" -> 1): Unit
    assert(!last.isPending)
    windowsOf(last, 5, "b" -> 5): Unit
    assert(last.isPending)
  }

  test("of rows between two windows those stay that the next one may have") {
    val windows = run(Time(10), Rows(100), keepsLast = true)
    val rows = (1 to 100).map(i => s"$i" -> i.toLong)
    assert(windowsOf(windows, 100, rows: _*).length == 1)
    (101L to 190).foreach(ts => windowsOf(windows, ts, "x" -> ts))
    assert(windows.rows.blocks.size <= 2 * 10 / 2 + 4)
    val next = windowsOf(windows, 200, (191L to 200).map(ts => s"$ts" -> ts): _*)
    assert(next.map(pane => (pane.end, pane.rows.length, pane.expired.size)) == Seq((200, 10, 10)))
  }

  test("of rows between two windows of so many, only those stay that the next one may have") {
    val windows = run(Rows(4), Rows(100), keepsLast = true)
    assert(windowsOf(windows, 100, (1 to 100).map(i => s"$i" -> i.toLong): _*).length == 1)
    (101L to 199).foreach { ts =>
      windowsOf(windows, ts, s"$ts" -> ts): Unit
      assert(windows.rows.blocks.size <= 4 + 4)
    }
    val next = windowsOf(windows, 200, "200" -> 200)
    assert(next.map(_.rows) == Seq(Seq("197", "198", "199", "200")))
    assert(next.map(_.expired) == Seq(Set("97", "98", "99", "100")))
  }

  test("rows that count at once are pending for as long as a window may have them") {
    val windows =
      new StormRun(RetainedRowSpec(Time(100), Rows(3)), RowLimits(rows = 2), countsAtOnce = true)
    assert(windowsOf(windows, 0, "a" -> 0).isEmpty)
    assert(windows.isPending)
    assert(windowsOf(windows, 20, "b" -> 20).isEmpty)
    assert(windows.isPending)
    assert(windows.due == 120)
    assert(ends(windowsOf(windows, 40, "c" -> 40)) == Seq(40 -> "abc"))
    assert(!windows.isPending)
  }

  test("lengths and slides are above zero") {
    Seq(() => Time(0), () => Time(-1), () => Rows(0), () => Rows(-1)).foreach { made =>
      assertThrows[InvalidArgument](made())
    }
  }

  test("by its time a row is in so many windows") {
    val sliding = RetainedRowSpec(Time(20), Time(10))
    assert(Seq(1L, 10L, 11L, -5L).flatMap(sliding.windowsOf) == Seq(2, 2, 2, 2))
    val uneven = RetainedRowSpec(Time(25), Time(10))
    assert(Seq(1L, 5L, 6L, 10L).flatMap(uneven.windowsOf) == Seq(2, 2, 3, 3))
    val gaps = RetainedRowSpec(Time(5), Time(10))
    assert(Seq(1L, 5L, 6L, 10L).flatMap(gaps.windowsOf) == Seq(0, 0, 1, 1))
    assert(RetainedRowSpec(Time(Long.MaxValue), Time(1)).windowsOf(1) == Some(Int.MaxValue))
  }
}
