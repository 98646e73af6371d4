package io.eventtide.kernel.watermark

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.Saved
import io.eventtide.kernel.watermark.Generators._

/** What holds for every policy, whatever happens. */
final class PolicyLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000, sizeRange = 30)

  private def played(spec: PolicySpec, events: Seq[Event]): Played = {
    val played = new Played(spec.create())
    events.foreach(played.play)
    played
  }

  private def copy(spec: PolicySpec, of: Played): Played = {
    val restored = spec.create()
    Saved.by(of.policy.save).into(restored.restore)
    new Played(restored, of.now)
  }

  private def highestClock(events: Seq[Event]): Long =
    events.scanLeft(0L)(_ + _.pause).tail.maxOption.getOrElse(0L) // nobody told it the first

  test("the watermark never goes back, and what is known stays known") {
    forAll(policies, events) { (spec, events) =>
      val one = new Played(spec.create())
      events.foreach { event =>
        val before = one.watermark
        one.play(event)
        assert(before.forall(value => one.watermark.exists(_ >= value)))
      }
    }
  }

  test("the watermark never goes back at the ends of the range either") {
    forAll(policies, Gen.listOf(Gen.zip(anyTime, anyTime))) { (spec, rows) =>
      val policy = spec.create()
      var before = Option.empty[Long]
      rows.foreach { case (now, ts) =>
        policy.observe(now, ts)
        val after = Option.when(policy.known)(policy.watermark)
        assert(before.forall(value => after.exists(_ >= value)))
        before = after
      }
    }
  }

  test("looking ahead says what a tick would bring, and changes nothing") {
    forAll(policies, events, Gen.choose(-5L, 60L)) { (spec, events, pause) =>
      val live = played(spec, events)
      val ticked = copy(spec, live)
      val later = live.now + pause
      val before = Saved.by(live.policy.save).bytes.toSeq
      val ahead = Option.when(live.policy.knownAt(later))(live.policy.watermarkAt(later))
      ticked.policy.tick(later)
      assert(ahead == ticked.watermark)
      assert(Saved.by(live.policy.save).bytes.toSeq == before)
    }
  }

  test("a policy for a clock that is ahead says the same by that clock") {
    forAll(policies, events, Gen.choose(0L, 100L)) { (spec, events, ahead) =>
      val one = new Played(spec.create())
      val other = new Played(spec.forClockAhead(ahead).create(), start = ahead)
      events.foreach { event =>
        Seq(one, other).foreach(_.play(event))
        assert(other.watermark == one.watermark)
      }
    }
  }

  test(
    "a policy whose clock comes to be ahead keeps its watermark, and the time that it measured"
  ) {
    forAll(policies, events, events) { (any, before, after) =>
      val live = played(any, before)
      val restored = any.forClockAhead(50).create()
      Saved.by(live.policy.save).into(restored.restore)
      assert(new Played(restored).watermark == live.watermark)
      val later = new Played(restored, live.now)
      after.foldLeft(live.watermark) { (highest, event) =>
        later.play(event)
        assert(highest.forall(value => later.watermark.exists(_ >= value)))
        later.watermark
      }
    }
  }

  test("a restored policy behaves as the saved one") {
    forAll(policies, events, events) { (spec, before, after) =>
      val live = played(spec, before)
      val restored = copy(spec, live)
      assert(restored.watermark == live.watermark)
      after.foreach { event =>
        Seq(live, restored).foreach(_.play(event))
        assert(restored.watermark == live.watermark)
      }
    }
  }

  test("what was saved after the last row, then ticked, is what the live one is after its ticks") {
    forAll(policies, events, Gen.listOf(Gen.choose(0L, 9L))) { (spec, before, waits) =>
      val live = played(spec, Tick(0) :: before)
      val restored = copy(spec, live)
      waits.foreach(wait => live.play(Tick(wait)))
      restored.play(Tick(live.now - restored.now))
      assert(restored.watermark == live.watermark)
      assert(Saved.by(restored.policy.save) == Saved.by(live.policy.save))
    }
  }

  test("a restart under other parameters does not take the watermark back") {
    val pairs = Gen.oneOf(
      Gen.zip(byRow, Gen.choose(0L, 40L)).map { case (spec, lag) => spec -> WithFixedLag(lag) },
      Gen.zip(timers, Gen.choose(0L, 40L), Gen.choose(1, 9)).map {
        case (spec, value, _) if spec.kind == LimitingLagAndLull =>
          spec -> LimitingLagAndLull(value, value)
        case (spec, value, samples) => spec -> LimitingLagAndDelay(value, value + samples, samples)
      },
      Gen.zip(Gen.choose(0L, 9L), Gen.choose(0L, 40L)).map { case (a, b) =>
        LimitingTimestampAndWallClockLag(a, b) -> LimitingTimestampAndWallClockLag(b, a)
      }
    )
    forAll(pairs, events, Gen.choose(0L, 20L)) { case ((before, after), events, wait) =>
      val live = played(before, events)
      val restored = after.create()
      Saved.by(live.policy.save).into(restored.restore)
      assert(live.watermark.forall(value => restored.known && restored.watermark >= value))
      val reached = Option.when(restored.known)(restored.watermark)
      restored.tick(live.now + wait)
      assert(reached.forall(restored.watermark >= _))
    }
  }

  test("due is the earliest clock value at which the target is reached without rows") {
    forAll(policies, events, Gen.choose(-60L, 90L)) { (spec, events, target) =>
      val live = played(spec, events)
      val clock = highestClock(events)
      def reachedAt(now: Long): Boolean = {
        val one = copy(spec, live)
        one.policy.tick(now)
        one.watermark.exists(_ >= target)
      }
      live.policy.dueAt(target) match {
        case WatermarkPolicy.Never => assert(!reachedAt(clock + 1000000))
        case due if events.isEmpty =>
          assert(reachedAt(due) && (due < -100 || !reachedAt(due - 1)))
        case due if due <= clock => assert(live.watermark.exists(_ >= target))
        case due => assert(reachedAt(due) && !reachedAt(due - 1))
      }
    }
  }

  test("a skip changes nothing that can be seen, however long it is") {
    forAll(policies, events, Gen.choose(0L, 1000L)) { (spec, events, down) =>
      val live = played(spec, events)
      val before = live.watermark
      live.play(Skip(down))
      assert(live.watermark == before)
      live.play(Tick(0))
      assert(down == 0 || live.watermark == before)
    }
  }

  test("a skip moves the timers of lull and delay on by its length") {
    forAll(timers, events, Gen.choose(0L, 1000L), time) { (spec, events, down, target) =>
      val live = played(spec, events :+ Tick(100))
      val before = live.policy.dueAt(target)
      val clock = highestClock(events :+ Tick(100))
      live.policy.skip(clock + down)
      val expected =
        if (before == WatermarkPolicy.Never) before else Math.max(before, clock) + down
      assert(live.policy.dueAt(target) == expected)
    }
  }

  test(
    "a policy that rows move does not care how rows are batched or how often the clock is told"
  ) {
    val rows = Gen.nonEmptyListOf(time)
    forAll(byRow, rows, Gen.choose(1, 5), Gen.choose(0, 5)) { (spec, rows, size, ticks) =>
      val (batched, single) = (new Played(spec.create()), new Played(spec.create()))
      rows.grouped(size).foreach(group => batched.play(Batch(1, group)))
      rows.foreach { ts =>
        (0 until ticks).foreach(_ => single.play(Tick(1)))
        single.play(Row(1, ts))
      }
      assert(single.watermark == batched.watermark)
    }
  }

  test("ticks in between change nothing for any policy, once its clock has started") {
    forAll(policies, events, Gen.listOf(Gen.choose(0, 3))) { (spec, events, extra) =>
      val (often, seldom) = (new Played(spec.create()), new Played(spec.create()))
      Seq(often, seldom).foreach(_.play(Tick(0)))
      events.zipAll(extra, Tick(0), 0).foreach { case (event, ticks) =>
        val skips = event.isInstanceOf[Skip]
        val parts = if (skips || event.pause <= 0) 0 else Math.min(ticks.toLong, event.pause)
        val start = often.now
        (1L to parts).foreach(i => often.policy.tick(start + event.pause * i / (parts + 1)))
        Seq(often, seldom).foreach(_.play(event))
        assert(often.watermark == seldom.watermark)
      }
    }
  }
}
