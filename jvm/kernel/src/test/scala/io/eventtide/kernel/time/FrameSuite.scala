package io.eventtide.kernel.time

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.InvalidArgument

final class FrameSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val frames = for {
    size <- Gen.oneOf(Gen.choose(1L, 20L), Gen.choose(1L, 1L << 40), Gen.choose(1L, Long.MaxValue))
    offset <- Gen.choose(0L, size - 1)
  } yield Frame(size, offset)

  private val times = Gen.oneOf(
    Gen.choose(-50L, 50L),
    Gen.choose(0L, 1L << 53),
    Gen.choose(Long.MinValue, Long.MinValue + 50),
    Gen.choose(Long.MaxValue - 50, Long.MaxValue),
    Gen.long
  )

  private def clamp(exact: BigInt): Long =
    exact.max(BigInt(Long.MinValue)).min(BigInt(Long.MaxValue)).toLong

  private def boundaryBelow(frame: Frame, ts: Long): BigInt =
    BigInt(ts) - (BigInt(ts) - frame.offset).mod(BigInt(frame.size))

  test("floor and higher are the boundaries around a time, clamped once") {
    forAll(frames, times) { (frame, ts) =>
      val below = boundaryBelow(frame, ts)
      assert(frame.floor(ts) == clamp(below))
      assert(frame.higher(ts) == clamp(below + frame.size))
    }
  }

  test("ceiling is the time itself on a boundary and the next boundary elsewhere") {
    forAll(frames, times) { (frame, ts) =>
      val below = boundaryBelow(frame, ts)
      assert(frame.ceiling(ts) == (if (below == ts) ts else clamp(below + frame.size)))
    }
  }

  test("a frame has the number of the boundary that it starts at, and its start is the floor") {
    forAll(frames, times) { (frame, ts) =>
      val below = boundaryBelow(frame, ts)
      assert(BigInt(frame.index(ts)) == (below - frame.offset) / frame.size)
      assert(frame.start(frame.index(ts)) == frame.floor(ts))
    }
  }

  test("the times around a boundary of microseconds are in the frames at its sides") {
    val sizes = Gen.oneOf(1L, 3L, 7L, 999983L, 1000000L, 86400000000L)
    forAll(sizes, Gen.choose(0L, 1L << 52)) { (size, near) =>
      val number = near / size
      assert(Frame(size).index(number * size) == number)
      assert(Frame(size).index(number * size - 1) == number - 1)
    }
  }

  test("a boundary is exact where it fits and the end of the range where it does not") {
    forAll(frames, times) { (frame, index) =>
      assert(frame.start(index) == clamp(BigInt(index) * frame.size + frame.offset))
    }
  }

  test("a time below zero belongs to the frame below it") {
    assert(Frame(10).floor(-1) == -10)
    assert(Frame(10).ceiling(-1) == 0)
  }

  test("a size that is not positive is refused, with the value in the message") {
    val refusal = intercept[InvalidArgument](Frame(0))
    assert(refusal.getMessage == "frame size must be more than zero, but was 0")
  }

  test("an offset outside the first frame is refused") {
    intercept[InvalidArgument](Frame(10, 10))
    intercept[InvalidArgument](Frame(10, -1))
  }
}
