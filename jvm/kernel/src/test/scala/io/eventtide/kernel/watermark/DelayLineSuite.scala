package io.eventtide.kernel.watermark

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.{InvalidArgument, Saved}

final class DelayLineSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def answer(history: DelayLine): Option[Long] =
    Option.when(history.released)(history.value)

  /** The rule as it is written: the last sample of the slot `slots` ago or of one before it. */
  private def byTheBook(maxDelay: Long, slots: Int, samples: Seq[(Long, Long)]): Option[Long] = {
    val width = maxDelay / slots
    val first = samples.head._1
    val answered = (samples.last._1 - first) / width - slots
    samples.filter { case (now, _) => (now - first) / width <= answered }.lastOption.map(_._2)
  }

  test("nothing is released before the horizon, also when nobody sampled") {
    val history = new DelayLine(6, 3)
    assert(answer(history).isEmpty)
    history.tick(0)
    assert(answer(history).isEmpty)
    history.sample(0, 7)
    history.tick(5)
    assert(answer(history).isEmpty)
    history.tick(6)
    assert(answer(history) == Some(7))
  }

  test("the answer is the last sample of the slot or before, for any samples") {
    val steps = Gen.nonEmptyListOf(Gen.zip(Gen.choose(0L, 9L), Gen.choose(-100L, 100L)))
    forAll(steps, Gen.choose(1, 5), Gen.choose(0L, 12L)) { (steps, slots, more) =>
      val maxDelay = slots + more
      val history = new DelayLine(maxDelay, slots)
      val times = steps.scanLeft(-20L)(_ + _._1).tail
      val samples = times.zip(steps.map(_._2))
      samples.indices.foreach { i =>
        history.sample(samples(i)._1, samples(i)._2)
        assert(answer(history) == byTheBook(maxDelay, slots, samples.take(i + 1)))
      }
    }
  }

  test("slots that are none, or narrower than the clock's unit, are refused") {
    intercept[InvalidArgument](new DelayLine(6, 0))
    val refusal = intercept[InvalidArgument](new DelayLine(3, 4))
    assert(
      refusal.getMessage ==
        "max_delay must be at least the number of samples, 4, but was 3"
    )
  }

  test("the remainder of an uneven division is dropped from the horizon") {
    val history = new DelayLine(7, 3)
    history.sample(0, 1)
    assert(history.dueAt(1) == 6)
    history.tick(6)
    assert(answer(history) == Some(1))
  }

  test("a restored history goes on where it was saved") {
    val history = new DelayLine(6, 3)
    (0L to 9L).foreach(now => history.sample(now, now))
    val restored = new DelayLine(6, 3)
    Saved.by(history.save).into(restored.restore)
    (10L to 20L).foreach { now =>
      Seq(history, restored).foreach(_.sample(now, now))
      assert(answer(restored) == answer(history))
    }
  }

  test("a clock over the whole range does not wrap") {
    val history = new DelayLine(4, 2)
    history.sample(Long.MinValue, 1)
    history.sample(Long.MaxValue, 2)
    assert(answer(history) == Some(1))
  }
}
