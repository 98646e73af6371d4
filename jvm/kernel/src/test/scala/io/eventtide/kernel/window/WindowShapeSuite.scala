package io.eventtide.kernel.window

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.window.WindowGenerators._

/** Shapes against windows that are listed one by one, with numbers that cannot overflow. */
final class WindowShapeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  /** The frames of the window that ends at `end`, from the first on. */
  private def first(shape: WindowShape, end: BigInt): BigInt = shape match {
    case Sliding(frames) => end - frames
    case Cumulative(frames, phase) => end - 1 - (end - 1 - phase).mod(frames)
  }

  private def clamp(exact: BigInt): Long =
    exact.max(BigInt(Long.MinValue)).min(BigInt(Long.MaxValue)).toLong

  test("a window starts where its list of frames does, clamped once") {
    forAll(shapes, numbers) { (shape, end) =>
      assert(shape.start(end) == clamp(first(shape, BigInt(end))))
      assert(shape.startAfter(end) == clamp(first(shape, BigInt(end) + 1)))
    }
  }

  test("the windows of a frame end one after the other, up to the last one") {
    forAll(shapes, numbers) { (shape, frame) =>
      val ends = (1 to shape.frames).map(BigInt(frame) + _).filter(first(shape, _) <= frame)
      assert(ends == ends.indices.map(BigInt(frame) + 1 + _))
      assert(shape.lastEnd(frame) == clamp(ends.last))
      if (ends.last <= Long.MaxValue) assert(shape.windowsOf(frame) == ends.length)
    }
  }

  test("a window of no frames, of too many, or out of phase is refused") {
    intercept[InvalidArgument](Sliding(0))
    intercept[InvalidArgument](Sliding(WindowShape.MostFrames + 1))
    intercept[InvalidArgument](Cumulative(3, 3))
    intercept[InvalidArgument](Cumulative(3, -1))
  }
}
