package io.eventtide.kernel.watermark

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.Saved
import io.eventtide.kernel.testkit.PolicyEvent._
import io.eventtide.kernel.testkit.{PolicyEvent, PolicyLaws, PolicyRun}
import io.eventtide.kernel.watermark.Generators._

/** What holds for every policy, by the test kit, and what holds for some. */
final class PolicyLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000, sizeRange = 30)

  private def played(spec: PolicySpec, events: Seq[PolicyEvent]): PolicyRun =
    new PolicyRun(spec).play(events)

  private def highestClock(events: Seq[PolicyEvent]): Long =
    events.scanLeft(0L)(_ + _.pause).tail.maxOption.getOrElse(0L) // nobody told it the first

  test("every policy follows the laws") {
    forAll(policies, Gen.long)((spec, seed) => PolicyLaws.check(spec, histories = 4, seed))
  }

  test(
    "a policy whose clock comes to be ahead keeps its watermark, and the time that it measured"
  ) {
    forAll(policies, events, events) { (any, before, after) =>
      val live = played(any, before)
      val restored = any.forClockAhead(50).create()
      Saved.by(live.policy.save).into(restored.restore)
      val reached = Option.when(restored.known)(restored.watermark)
      assert(reached == live.watermark)
      after.foldLeft((live.now, reached)) { case ((start, highest), event) =>
        val now = start + event.pause
        event match {
          case Tick(_) => restored.tick(now)
          case Skip(_) => restored.skip(now)
          case Row(_, ts) => restored.observe(now, ts)
          case Batch(_, times) => restored.observe(now, times.max, times.min)
          case Mark(_, ts, mark) =>
            restored.observe(now, ts)
            restored.observeMark(mark)
        }
        val watermark = Option.when(restored.known)(restored.watermark)
        assert(highest.forall(value => watermark.exists(_ >= value)))
        (now, watermark)
      }
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
      val restored = live.restarted(after)
      assert(live.watermark.forall(value => restored.watermark.exists(_ >= value)))
      val reached = restored.watermark
      restored.play(Tick(wait))
      assert(reached.forall(value => restored.watermark.exists(_ >= value)))
    }
  }

  test("due is right before the first event, too") {
    forAll(policies, time) { (spec, target) =>
      def reachedAt(now: Long): Boolean = {
        val one = new PolicyRun(spec)
        one.policy.tick(now)
        one.watermark.exists(_ >= target)
      }
      spec.create().dueAt(target) match {
        case WatermarkPolicy.Never => assert(!reachedAt(1000000))
        case due => assert(reachedAt(due) && (due < -100 || !reachedAt(due - 1)))
      }
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
      val (batched, single) = (new PolicyRun(spec), new PolicyRun(spec))
      rows.grouped(size).foreach(group => batched.play(Batch(1, group)))
      rows.foreach { ts =>
        (0 until ticks).foreach(_ => single.play(Tick(1)))
        single.play(Row(1, ts))
      }
      assert(single.watermark == batched.watermark)
    }
  }
}
