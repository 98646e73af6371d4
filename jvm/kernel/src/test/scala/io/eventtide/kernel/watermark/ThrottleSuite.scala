package io.eventtide.kernel.watermark

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.watermark.Generators._
import io.eventtide.kernel.{InvalidArgument, Saved, UnknownStateVersion}

final class ThrottleSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000, sizeRange = 30)

  private val offers = Gen.listOf(Gen.zip(Gen.choose(0L, 9L), time))

  private def emitted(throttle: Throttle): Option[Long] =
    Option.when(throttle.known)(throttle.emitted)

  private def offered(specs: Seq[ThrottleSpec], offers: Seq[(Long, Long)]): (Throttle, Long) = {
    val throttle = ThrottleSpec.chain(specs)
    val now = offers.foldLeft(0L) { case (now, (wait, ideal)) =>
      throttle.offer(now + wait, ideal): Unit
      now + wait
    }
    (throttle, now)
  }

  private def copy(specs: Seq[ThrottleSpec], of: Throttle): Throttle = {
    val restored = ThrottleSpec.chain(specs)
    Saved.by(of.save).into(restored.restore)
    restored
  }

  test("a jump over several frames emits once, the highest boundary") {
    val throttle = ThrottleByFrame(3).create()
    assert(throttle.offer(0, 2))
    assert(emitted(throttle) == Some(0))
    assert(throttle.offer(0, 13))
    assert(emitted(throttle) == Some(12))
    assert(!throttle.offer(0, 14))
    assert(!throttle.offer(0, 5))
  }

  test("the smallest step passes at exactly the step") {
    val throttle = ThrottleByMinStep(2).create()
    assert(throttle.offer(0, 2))
    assert(!throttle.offer(0, 3))
    assert(throttle.offer(0, 4))
    assert(emitted(throttle) == Some(4))
  }

  test("a timer emits at its next instant what is ideal then") {
    val throttle = EmitEvery(10).create()
    assert(!throttle.offer(3, 100))
    assert(throttle.notBefore == 10)
    assert(!throttle.offer(9, 200))
    assert(throttle.offer(10, 300))
    assert(emitted(throttle) == Some(300))
  }

  test("a timer emits once at an instant, and then not between two") {
    val throttle = EmitEvery(10).create()
    assert(throttle.offer(10, 1))
    assert(!throttle.offer(10, 2))
    assert(!throttle.offer(15, 3))
    assert(throttle.offer(20, 3))
    assert(!throttle.offer(30, 3))
    assert(!throttle.offer(35, 4), "the instant at 30 has passed without anything new")
    assert(throttle.offer(40, 4))
  }

  test("a timer does not wait for a part of what can be emitted") {
    val timer = ThrottleSpec.chain(Seq(EmitEvery(10)), grain = 5)
    assert(timer.offer(0, 12) && emitted(timer) == Some(10))
    timer.raise(10, 0) // as somebody knows it who has whole steps
    assert(!timer.offer(3, 13) && timer.dueFrom(12) == 20)
    assert(!timer.offer(21, 14) && !timer.offer(24, 16) && timer.offer(30, 16))
    assert(emitted(timer) == Some(15))
  }

  test("the instants of a timer are where the clock of people has them") {
    val ahead = EmitEvery(10).forClockAhead(23).forClockAhead(4)
    assert(ahead.toString == EmitEvery(10).toString)
    val timer = ahead.create()
    assert(!timer.offer(10, 1) && timer.dueFrom(10) == 17 && timer.offer(17, 1))
    val before = EmitEvery(10).create()
    assert(before.offer(0, 1) && !before.offer(3, 2))
    Saved.by(before.save).into(timer.restore)
    assert(!timer.offer(10, 2) && timer.offer(17, 2))
  }

  test("a timer that nobody looked at in time emits at the first look after it") {
    val throttle = EmitEvery(10).create()
    assert(!throttle.offer(3, 1))
    assert(throttle.offer(57, 2))
    assert(throttle.dueFrom(57) == 60)
  }

  test("a timer comes first wherever it stands") {
    val throttle = ThrottleSpec.chain(Seq(ThrottleByFrame(10), EmitEvery(5)))
    assert(!throttle.offer(1, 11))
    assert(throttle.offer(5, 33))
    assert(emitted(throttle) == Some(30))
  }

  test("an offset outside the frame, and steps and intervals that are not positive, are refused") {
    intercept[InvalidArgument](ThrottleByFrame(10, 10))
    intercept[InvalidArgument](ThrottleByFrame(0))
    intercept[InvalidArgument](ThrottleByMinStep(0))
    intercept[InvalidArgument](EmitEvery(0))
    intercept[InvalidArgument](ThrottleSpec.chain(Seq(EmitEvery(1), EmitEvery(2))))
  }

  test("what is emitted never goes back, and never exceeds the highest ideal") {
    forAll(throttles, offers) { (specs, offers) =>
      val throttle = ThrottleSpec.chain(specs)
      var now = 0L
      offers.zipWithIndex.foreach { case ((wait, ideal), i) =>
        now += wait
        val before = emitted(throttle)
        val moved = throttle.offer(now, ideal)
        assert(moved == (emitted(throttle) != before))
        assert(before.forall(value => emitted(throttle).exists(_ >= value)))
        assert(emitted(throttle).forall(_ <= offers.take(i + 1).map(_._2).max))
      }
    }
  }

  test("a frame throttle is always less than a frame behind the highest ideal") {
    forAll(Gen.choose(1L, 12L), offers) { (size, offers) =>
      val (throttle, _) = offered(Seq(ThrottleByFrame(size)), offers)
      offers.map(_._2).maxOption.foreach(top => assert(top - throttle.emitted < size))
    }
  }

  test("required is the lowest ideal that makes what is emitted at least the value") {
    forAll(freeThrottles, offers, time) { (specs, offers, value) =>
      val (throttle, now) = offered(specs, offers)
      def reachedBy(ideal: Long): Boolean = {
        val one = copy(specs, throttle)
        one.offer(now, ideal): Unit
        one.known && one.emitted >= value
      }
      val needed = throttle.required(value)
      assert(reachedBy(needed))
      assert(needed == Long.MinValue || !reachedBy(needed - 1))
    }
  }

  test("the next target is the lowest ideal that moves what is emitted") {
    forAll(freeThrottles, offers) { (specs, offers) =>
      val (throttle, now) = offered(specs, offers)
      val target = throttle.nextTarget
      assert(copy(specs, throttle).offer(now, target))
      assert(target == Long.MinValue || !copy(specs, throttle).offer(now, target - 1))
    }
  }

  test("an ideal that is there is emitted when it is due, and not one unit earlier") {
    forAll(throttles, offers) { (specs, offers) =>
      val (throttle, now) = offered(specs, offers)
      val ideal = 100000L // above everything that any throttle still waits for
      val moved = throttle.offer(now, ideal)
      val due = throttle.dueFrom(now)
      assert(moved || due > now)
      if (!moved) {
        assert(!copy(specs, throttle).offer(due - 1, ideal))
        assert(copy(specs, throttle).offer(due, ideal))
      }
    }
  }

  test("a restored throttle behaves as the saved one") {
    forAll(throttles, offers, offers) { (specs, before, after) =>
      val (live, start) = offered(specs, before)
      val restored = copy(specs, live)
      after.foldLeft(start) { case (now, (wait, ideal)) =>
        assert(restored.offer(now + wait, ideal) == live.offer(now + wait, ideal))
        assert(emitted(restored) == emitted(live))
        assert(restored.notBefore == live.notBefore)
        now + wait
      }
    }
  }

  test("after raising, nothing at or below the floor is emitted") {
    forAll(throttles, offers, time) { (specs, offers, floor) =>
      val (throttle, now) = offered(specs, offers)
      throttle.raise(floor, now)
      assert(throttle.emitted >= floor)
      assert(!throttle.offer(now + 1000, floor) || throttle.emitted > floor)
    }
  }

  test("a floor from elsewhere counts as the timer's emission") {
    val timer = ThrottleSpec.chain(Seq(EmitEvery(10)))
    assert(timer.offer(0, 1) && !timer.offer(5, 2))
    timer.raise(3, 10)
    assert(!timer.offer(11, 4) && timer.offer(20, 4))
  }

  test("offers over the whole range neither wrap nor go back") {
    forAll(throttles, Gen.listOf(Gen.zip(anyTime, anyTime))) { (specs, offers) =>
      val throttle = ThrottleSpec.chain(specs)
      offers.foreach { case (now, ideal) =>
        val before = emitted(throttle)
        throttle.offer(now, ideal): Unit
        assert(before.forall(_ <= throttle.emitted))
      }
    }
  }

  test("state of an unknown version is refused by name") {
    Seq(Nil, Seq(ThrottleByFrame(1)), Seq(EmitEvery(1), ThrottleByMinStep(1))).foreach { specs =>
      val newer = Saved.by(ThrottleSpec.chain(specs).save).withVersion(9)
      intercept[UnknownStateVersion](ThrottleSpec.chain(specs).restore(newer.input))
    }
  }
}
