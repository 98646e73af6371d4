package io.eventtide.kernel.watermark

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.{IncompatibleState, InvalidArgument, Saved, UnknownStateVersion}

final class CoalescerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("without inputs there is no watermark and nobody is idle") {
    val coalescer = new Coalescer(0)
    assert(coalescer.top.isEmpty && coalescer.coalesced.isEmpty && !coalescer.idleMessagePending)
  }

  test("a watermark that does not rise is refused, a report that does not rise is not") {
    val coalescer = new Coalescer(1)
    assert(coalescer.watermark(0, 5))
    val refusal = intercept[InvalidArgument](coalescer.watermark(0, 5))
    assert(refusal.getMessage == "watermark of input 0 must be above 5, but was 5")
    assert(!coalescer.raise(0, 4))
    assert(coalescer.coalesced == Some(5))
  }

  test("the lowest long is an ordinary watermark") {
    val coalescer = new Coalescer(2)
    assert(!coalescer.watermark(0, Long.MinValue))
    assert(coalescer.watermark(1, Long.MaxValue))
    assert(coalescer.coalesced == Some(Long.MinValue))
  }

  test("nothing is taken from an input that is done, and its watermark can still be released") {
    val coalescer = new Coalescer(2)
    coalescer.watermark(0, 9): Unit
    assert(coalescer.done(1))
    assert(coalescer.coalesced == Some(9))
    Seq[Coalescer => Any](_.watermark(1, 1), _.raise(1, 1), _.idle(1), _.done(1)).foreach { call =>
      val refusal = intercept[InvalidArgument](call(coalescer))
      assert(refusal.getMessage == "input 1 must be still open, but was done")
    }
  }

  // Flink waits for what is back to catch up, and forgets what came while it was idle
  test("an idle input is brought back by its own watermark, which counts at once") {
    val coalescer = new Coalescer(1)
    coalescer.watermark(0, 25): Unit
    coalescer.idle(0): Unit
    assert(coalescer.idleMessagePending)
    assert(coalescer.raise(0, 50))
    assert(!coalescer.idleMessagePending)
    assert(coalescer.coalesced == Some(50))
    coalescer.event(0)
    assert(!coalescer.raise(0, 50))
  }

  test("an input that is back without a watermark holds the others back until it goes idle") {
    val coalescer = new Coalescer(3)
    coalescer.watermark(0, 10): Unit
    coalescer.watermark(1, 7): Unit
    assert(coalescer.idle(2))
    coalescer.event(2)
    assert(!coalescer.idle(0) && !coalescer.idle(1))
    coalescer.event(0)
    assert(coalescer.coalesced == Some(7))
    assert(coalescer.idle(2))
    assert(coalescer.coalesced == Some(10))
  }

  private type Call = Coalescer => Boolean

  private val calls: Gen[List[Call]] = Gen.listOf(
    Gen.zip(Gen.choose(0, 2), Gen.choose(-20L, 20L), Gen.choose(0, 9)).map {
      case (input, value, kind) => call(input, value, kind)
    }
  )

  private def call(input: Int, value: Long, kind: Int): Call = coalescer =>
    try
      kind match {
        case 0 => coalescer.done(input)
        case 1 | 2 => coalescer.idle(input)
        case 3 => coalescer.event(input); false
        case _ => coalescer.raise(input, value)
      }
    catch { case _: InvalidArgument => false }

  test("what is coalesced never goes back, and is said to rise exactly when it does") {
    forAll(calls) { calls =>
      val coalescer = new Coalescer(3)
      calls.foreach { call =>
        val before = coalescer.coalesced
        assert(call(coalescer) == (coalescer.coalesced != before))
        assert(before.forall(value => coalescer.coalesced.exists(_ >= value)))
      }
    }
  }

  test("a restored coalescer behaves as the saved one") {
    forAll(calls, calls) { (before, after) =>
      val live = new Coalescer(3)
      before.foreach(_(live): Unit)
      val restored = new Coalescer(3)
      Saved.by(live.save).into(restored.restore)
      after.foreach { call =>
        assert(call(restored) == call(live))
        assert(restored.coalesced == live.coalesced && restored.top == live.top)
        assert(restored.idleMessagePending == live.idleMessagePending)
      }
    }
  }

  test("state of another number of inputs, or of an unknown version, is refused by name") {
    val saved = Saved.by(new Coalescer(2).save)
    intercept[IncompatibleState](new Coalescer(3).restore(saved.input))
    intercept[UnknownStateVersion](new Coalescer(2).restore(saved.withVersion(2).input))
  }
}
