package io.eventtide.kernel.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.{IncompatibleState, InvalidArgument, Saved, UnknownStateVersion}

final class SubstreamsSuite extends AnyFunSuite {

  private def withNames(substreams: Substreams, names: String*): Substreams = {
    names.foreach(substreams.declare(_, 0): Unit)
    substreams
  }

  private val lag = WithFixedLag(0)

  test("without substreams the whole is idle and nothing is known") {
    val none = new Substreams(lag)
    assert(!none.tick(0))
    assert(none.status == WatermarkStatus.Idle && none.emitted.isEmpty && none.ideal.isEmpty)
    assert(none.nextDue.isEmpty && none.dueAt(0).isEmpty && none.idleAt == Some(0))
    assert(none.report.isEmpty)
  }

  test("one substream is its own minimum") {
    val one = withNames(new Substreams(lag), "a")
    assert(one.status == WatermarkStatus.Unknown)
    assert(one.observe(0, 0, 5))
    assert(one.status == WatermarkStatus.Value && one.emitted == Some(5))
  }

  test("looking ahead leaves what is there alone") {
    val live = withNames(new Substreams(LimitingLagAndLull(0, 5)), "a")
    live.observe(0, 0, 10): Unit
    assert(live.lookAhead(8) == LookedAhead(isIdle = false, Some(13)))
    assert(live.emitted == Some(10))
    val again = new Substreams(LimitingLagAndLull(0, 5))
    Saved.by(live.saveChanged).into(again.restore(_)) // it has not taken what is to be saved
    assert(again.emitted == Some(10) && again.size == 1)
  }

  test("a renamed substream keeps its place, its watermark and its idle clock") {
    val two = withNames(new Substreams(lag, idleTimeout = Some(10)), "1 of 2", "2 of 2")
    val whole = Saved.by(two.saveWhole)
    two.rename(0, "north", 0)
    assert(two.indexOf("north") == Some(0) && two.indexOf("1 of 2").isEmpty)
    assert(!two.observe(1, 0, 7)) // the other one still holds back
    val again = new Substreams(lag, idleTimeout = Some(10))
    again.restore(whole.input, Seq(Saved.by(two.saveChanged).input))
    assert(again.report.map(_.name).toSet == Set("north", "2 of 2") && again.emitted.isEmpty)
    assert(again.tick(10) && again.emitted == Some(7))
  }

  test("a name is given once") {
    val two = withNames(new Substreams(lag), "a", "b")
    intercept[InvalidArgument](two.rename(0, "b", 0))
  }

  test("a declared substream holds back until it is seen or idle") {
    val two = withNames(new Substreams(lag, idleTimeout = Some(10)), "a", "b")
    assert(!two.observe(0, 0, 5))
    assert(two.ideal.isEmpty)
    assert(two.nextDue == Some(10))
    assert(!two.tick(9))
    assert(two.tick(10))
    assert(two.emitted == Some(5))
  }

  test("a substream is idle from its last row and the timeout on, inclusive") {
    val one = withNames(new Substreams(lag, idleTimeout = Some(10)), "a")
    one.observe(3, 0, 5): Unit
    one.tick(12): Unit
    assert(one.status == WatermarkStatus.Value && one.idleAt == Some(13))
    one.tick(13): Unit
    assert(one.status == WatermarkStatus.Idle && one.idleAt == Some(13))
  }

  test("a substream with a backlog is not idle, and one that was is active again") {
    val two = withNames(new Substreams(lag, idleTimeout = Some(10)), "a", "b")
    two.observe(0, 0, 100): Unit
    two.observe(0, 1, 50): Unit
    two.backlogs(Seq(0 -> Backlog.Empty, 1 -> Backlog.Pending))
    assert(!two.tick(1000) && two.emitted == Some(50) && two.idleAt.isEmpty)
    assert(two.report.map(_.activity) == Seq(Activity.CaughtUp, Activity.Backlogged))
    two.backlogs(Seq(1 -> Backlog.Empty))
    assert(two.nextDue == Some(1000) && two.tick(1000) && two.emitted == Some(100))
    two.backlogs(Seq(1 -> Backlog.Pending))
    assert(!two.observe(1001, 0, 200) && two.emitted == Some(100))
    assert(two.ideal == Some(50) && two.status == WatermarkStatus.Value)
  }

  test("silence is not measured while a source has rows to be read") {
    val lull = new Substreams(LimitingLagAndLull(lag = 5, maxLull = 10))
    val one = withNames(lull, "a")
    one.observeBatch(0, Seq(SubstreamRows(0, 100, 100, 1))): Unit
    one.backlogs(Seq(0 -> Backlog.Pending))
    assert(!one.tick(50) && one.emitted == Some(95) && one.dueAt(96).isEmpty)
    // a batch that has not taken all of it
    one.observeBatch(60, Seq(SubstreamRows(0, 99, 99, 1))): Unit
    assert(one.emitted == Some(95))
    one.backlogs(Seq(0 -> Backlog.Empty))
    assert(one.dueAt(96) == Some(71) && !one.tick(70) && one.tick(71) && one.emitted == Some(96))
    // rows that came since, and are all in the next batch
    one.backlogs(Seq(0 -> Backlog.Pending))
    assert(!one.tick(80))
    one.backlogs(Seq(0 -> Backlog.Empty))
    one.observeBatch(90, Seq(SubstreamRows(0, 120, 100, 2))): Unit
    assert(one.emitted == Some(115))
  }

  test("ticks of a pause are not made up for by a restart, as rows may come first") {
    def lull = new Substreams(LimitingLagAndLull(lag = 5, maxLull = 10))
    val one = withNames(lull, "a")
    one.observeBatch(0, Seq(SubstreamRows(0, 100, 100, 1))): Unit
    one.backlogs(Seq(0 -> Backlog.Pending))
    val whole = Saved.by(one.saveWhole)
    one.tick(50): Unit
    one.backlogs(Seq(0 -> Backlog.Empty))
    val again = lull
    again.restore(whole.input, Seq(Saved.by(one.saveChanged).input))
    Seq(one, again).foreach(_.observeBatch(51, Seq(SubstreamRows(0, 101, 101, 1))): Unit)
    assert(one.emitted == Some(101) && again.emitted == one.emitted)
    assert(again.report == one.report)
  }

  test("a policy that goes by the clock itself moves also while rows wait to be read") {
    val one = withNames(new Substreams(LimitingRealTimeLag(5)), "a")
    one.observeBatch(10, Seq(SubstreamRows(0, 9, 9, 1))): Unit
    one.backlogs(Seq(0 -> Backlog.Pending))
    assert(one.tick(50) && one.emitted == Some(45))
  }

  test("one that was not waited for any more is waited for anew under a name of its own") {
    val two = withNames(new Substreams(lag, idleTimeout = Some(10)), "?", "b")
    two.observe(0, 1, 50): Unit
    two.tick(20): Unit
    assert(two.emitted == Some(50))
    two.rename(0, "a", 25)
    two.observe(26, 1, 70): Unit
    assert(two.emitted == Some(50) && two.report.head.activity == Activity.Expected)
    two.tick(35): Unit
    assert(two.report.head.activity == Activity.NeverSeen)
  }

  test("taking one out after rows lets no other beyond them") {
    val two = withNames(new Substreams(LimitingRealTimeLag(0)), "a", "b")
    two.observeBatch(100, Seq(SubstreamRows(0, 7, 7, 1), SubstreamRows(1, 3, 3, 1))): Unit
    two.remove(1, 100, cap = 7): Unit
    assert(two.emitted == Some(7))
  }

  test("what sources say of a backlog is saved with the substream") {
    val one = withNames(new Substreams(lag, idleTimeout = Some(10)), "a")
    one.observe(0, 0, 7): Unit
    val whole = Saved.by(one.saveWhole)
    one.backlogs(Seq(0 -> Backlog.Pending))
    val again = new Substreams(lag, idleTimeout = Some(10))
    again.restore(whole.input, Seq(Saved.by(one.saveChanged).input))
    again.tick(50): Unit
    assert(again.report.map(_.activity) == Seq(Activity.Backlogged))
  }

  test("a row brings an idle substream back, and nothing goes down") {
    val two = withNames(new Substreams(lag, idleTimeout = Some(10)), "a", "b")
    two.observe(0, 0, 100): Unit
    two.observe(0, 1, 50): Unit
    two.tick(10): Unit
    assert(two.emitted == Some(100))
    assert(!two.observe(11, 1, 60))
    assert(two.emitted == Some(100) && two.ideal == Some(60) && two.status == WatermarkStatus.Value)
  }

  test("equal times of all substreams are the minimum") {
    val two = withNames(new Substreams(lag), "a", "b")
    two.observe(0, 0, 7): Unit
    assert(two.observe(0, 1, 7))
    assert(two.emitted == Some(7))
  }

  test("time skipped moves the idle deadlines on") {
    val one = withNames(new Substreams(lag, idleTimeout = Some(10)), "a")
    one.observe(0, 0, 5): Unit
    one.tick(4): Unit
    one.skip(1000)
    assert(one.idleAt == Some(1006))
    one.tick(1005): Unit
    assert(one.status == WatermarkStatus.Value)
    one.tick(1006): Unit
    assert(one.status == WatermarkStatus.Idle)
  }

  test("a watermark raised from outside is never fallen below, and the next frame follows it") {
    val one = withNames(new Substreams(lag, Seq(ThrottleByFrame(10))), "a")
    one.raise(25, 0)
    assert(one.emitted == Some(25))
    assert(!one.observe(0, 0, 29))
    assert(one.observe(0, 0, 30))
    assert(one.emitted == Some(30))
  }

  test("removing the one that lags behind lets the others go on") {
    val two = withNames(new Substreams(lag), "a", "b")
    two.observe(0, 0, 10): Unit
    assert(two.remove(1, 0))
    assert(two.emitted == Some(10))
    assert(two.indexOf("a") == Some(0) && two.indexOf("b").isEmpty && two.size == 1)
  }

  test("a removed substream's watermark can still be released when the rest is idle") {
    val two = withNames(new Substreams(lag, idleTimeout = Some(10)), "a", "b")
    two.observe(0, 0, 10): Unit
    two.remove(0, 0): Unit
    assert(two.emitted.isEmpty && two.nextDue == Some(10))
    assert(two.tick(10))
    assert(two.emitted == Some(10))
  }

  test("a name is declared once") {
    val one = withNames(new Substreams(lag), "a")
    val refusal = intercept[InvalidArgument](one.declare("a", 0))
    assert(refusal.getMessage == "substream must be declared once, but was a")
  }

  test("an index that no substream has is refused") {
    val one = withNames(new Substreams(lag), "a")
    intercept[IndexOutOfBoundsException](one.observe(0, 1, 5))
    intercept[IndexOutOfBoundsException](one.remove(-1, 0))
  }

  test("a timeout that is not positive is refused") {
    val refusal = intercept[InvalidArgument](new Substreams(lag, idleTimeout = Some(0)))
    assert(refusal.getMessage == "substream_idle_timeout must be more than zero, but was 0")
  }

  test(
    "a watermark ahead of the rows just read is capped, and let go by a tick at the same clock"
  ) {
    val two = withNames(new Substreams(LimitingRealTimeLag(10)), "a", "b")
    assert(two.observe(100, 0, 50))
    assert(two.emitted == Some(50))
    assert(two.nextDue == Some(100))
    assert(two.tick(100))
    assert(two.emitted == Some(90))
    assert(two.nextDue == Some(101))
  }

  test("the cap of a batch is its highest time, over all substreams") {
    val two = withNames(new Substreams(LimitingRealTimeLag(0)), "a", "b")
    val rows = Seq(SubstreamRows(0, 30, 10, 2), SubstreamRows(1, 70, 60, 3))
    assert(two.observeBatch(100, rows))
    assert(two.emitted == Some(70))
  }

  test("an empty batch is a tick") {
    val one = withNames(new Substreams(LimitingRealTimeLag(0)), "a")
    assert(one.observeBatch(100, Nil))
    assert(one.emitted == Some(100))
  }

  test("a clock-driven watermark goes on when all are idle") {
    val one = withNames(new Substreams(LimitingLagAndLull(0, 5), idleTimeout = Some(10)), "a")
    one.observe(0, 0, 100): Unit
    one.tick(20): Unit
    assert(one.status == WatermarkStatus.Idle && one.emitted == Some(115))
    one.tick(21): Unit
    assert(one.emitted == Some(116))
  }

  test("a timer between throttle and substreams emits at its instants only") {
    val one = withNames(new Substreams(lag, Seq(EmitEvery(10))), "a")
    assert(!one.observe(3, 0, 5) && !one.observe(4, 0, 6))
    assert(one.nextDue == Some(10))
    assert(!one.tick(9))
    assert(one.tick(10))
    assert(one.emitted == Some(6))
    assert(!one.observe(14, 0, 8))
    assert(one.observe(20, 0, 9))
    assert(one.emitted == Some(9))
  }

  test("the highest long is an ordinary time, and nothing is due after it") {
    val one = withNames(new Substreams(lag, Seq(ThrottleByFrame(10))), "a")
    one.observe(0, 0, Long.MaxValue): Unit
    assert(one.emitted == Some(Long.MaxValue / 10 * 10))
    assert(one.nextDue.isEmpty)
  }

  test("the report says of every substream what it has and why it counts or not") {
    val three = withNames(new Substreams(WithFixedLag(2), idleTimeout = Some(10)), "a", "b", "c")
    three.observe(1, 0, 5): Unit
    three.observe(2, 0, 3): Unit
    three.tick(11): Unit
    three.declare("d", 11): Unit
    three.observeBatch(12, Seq(SubstreamRows(1, 9, 8, 4))): Unit
    assert(
      three.report == Seq(
        SubstreamReport("a", Some(5), Some(3), 2, Activity.TimedOut, 12),
        SubstreamReport("b", Some(9), Some(7), 4, Activity.Active, 12),
        SubstreamReport("c", None, None, 0, Activity.NeverSeen, 10),
        SubstreamReport("d", None, None, 0, Activity.Expected, 11)
      )
    )
  }

  test("a summary of more than can be listed has those that count and are last, and the first") {
    val five = withNames(
      new Substreams(WithFixedLag(2), idleTimeout = Some(10)),
      "idle",
      "b",
      "c",
      "d",
      "leader"
    )
    five.observe(0, 0, 1): Unit
    five.observeBatch(
      12,
      Seq(7, 5, 6, 9).zip(1 to 4).map { case (top, i) =>
        SubstreamRows(i, top.toLong, top.toLong, 1)
      }
    ): Unit
    val three = five.summary(most = 3)
    assert(three.listed.map(_.name) == Seq("c", "d", "leader"))
    assert((three.count, three.idle, three.spread) == ((5, 1, Some(4))))
    assert(five.summary(most = 5).listed == five.report)
    assert(
      five.summary(most = 5, hidden = Some("b")).listed.map(_.name) == Seq(
        "idle",
        "c",
        "d",
        "leader"
      )
    )
    val named = five.summary(most = 1, named = Some("d"))
    assert(named.listed.map(_.name) == Seq("idle") && named.copy(listed = three.listed) == three)
    assert(five.summary(most = 9, named = Some("z")).listed.isEmpty)
    five.declare("unseen", 12): Unit
    assert(five.summary(most = 1).spread.isEmpty)
    five.tick(30): Unit
    assert(five.summary(most = 1).spread == Some(0))
  }

  test("a change record holds only substreams that had rows, however the clock moves") {
    val many =
      withNames(new Substreams(LimitingLagAndLull(0, 5)), (0 until 1000).map(_.toString): _*)
    many.observeBatch(0, (0 until 1000).map(SubstreamRows(_, 10, 10, 1))): Unit
    val whole = Saved.by(many.saveWhole).bytes.size
    many.tick(100): Unit
    val none = Saved.by(many.saveChanged).bytes.size
    many.observeBatch(101, Seq(SubstreamRows(7, 200, 200, 1))): Unit
    val one = Saved.by(many.saveChanged).bytes.size
    assert(none < 200 && one < none + 200 && whole > 1000 * 50)
  }

  test("a restart under another frame does not take back what was emitted") {
    val before = withNames(new Substreams(lag, Seq(ThrottleByFrame(10))), "a")
    before.observe(0, 0, 39): Unit
    val after = new Substreams(WithFixedLag(100), Seq(ThrottleByFrame(7)))
    Saved.by(before.saveWhole).into(after.restore(_))
    assert(after.emitted == Some(30))
    assert(after.observe(0, 0, 100), "the larger lag keeps the 39 that was reached")
    assert(after.emitted == Some(35))
  }

  test("a throttle that is added or taken away goes on from what was emitted") {
    val (none, frames) = (Nil, Seq(ThrottleByFrame(10)))
    def restart(from: Seq[ThrottleSpec], to: Seq[ThrottleSpec]): Substreams = {
      val before = withNames(new Substreams(lag, from), "a")
      before.observe(0, 0, 39): Unit
      val after = new Substreams(lag, to)
      Saved.by(before.saveWhole).into(after.restore(_))
      after
    }
    val added = restart(none, frames)
    assert(added.emitted == Some(39) && added.ideal == Some(39))
    assert(!added.observe(0, 0, 39))
    assert(added.observe(0, 0, 40) && added.emitted == Some(40))
    val removed = restart(frames, none)
    assert(removed.emitted == Some(30))
    assert(removed.tick(0) && removed.emitted == Some(39))
    val timed = restart(frames, Seq(EmitEvery(10)))
    assert(timed.emitted == Some(30))
    assert(!timed.observe(9, 0, 50) && timed.tick(10) && timed.emitted == Some(50))
  }

  test("what has emitted nothing yet has emitted nothing under another throttle") {
    val after = new Substreams(lag, Seq(ThrottleByFrame(10)))
    Saved.by(withNames(new Substreams(lag), "a").saveWhole).into(after.restore(_))
    assert(after.emitted.isEmpty)
    assert(after.observe(0, 0, 3) && after.emitted == Some(0))
  }

  test("state of other policies, or of an unknown version, is refused by name") {
    val saved = Saved.by(withNames(new Substreams(lag, Seq(ThrottleByFrame(10))), "a").saveWhole)
    val refusal = intercept[IncompatibleState](new Substreams(StormLag(0)).restore(saved.input))
    assert(
      refusal.getMessage == "state of substreams was saved by with_fixed_lag, but this is storm"
    )
    Seq(3, 5).foreach { version =>
      intercept[UnknownStateVersion] {
        new Substreams(lag, Seq(ThrottleByFrame(10))).restore(saved.withVersion(version).input)
      }
    }
  }

  test("a batch of a hundred thousand substreams is linear") {
    val many = new Substreams(lag, Seq(ThrottleByFrame(10)), Some(1000))
    val rows =
      (0 until 100000).map(i => SubstreamRows(many.declare(i.toString, 0), 100L + i % 50, 90, 2))
    val start = System.nanoTime
    assert(many.observeBatch(1, rows))
    assert(many.nextDue == Some(1001))
    assert((System.nanoTime - start) / 1000000 < 5000)
  }
}
