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
    case sliding: Sliding => end - sliding.frames
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

  test("windows may end at each n-th boundary, and begin at a frame or after it") {
    forAll(spacedShapes, numbers, numbers) { (plain, boundary, from) =>
      val shape = plain.copy(from = from)
      def isEnd(end: BigInt) = (end - shape.phase).mod(shape.every) == 0
      val next = Iterator.iterate(BigInt(boundary) + 1)(_ + 1).find(isEnd).get
      assert(shape.endAfter(boundary) == clamp(next))
      assert(shape.startAfter(boundary) == clamp((next - shape.frames).max(from)))
      assert(shape.start(boundary) == clamp((BigInt(boundary) - shape.frames).max(from)))
      val ends = (1 to shape.frames).map(BigInt(boundary) + _).filter(isEnd)
      assert(shape.windowsOf(boundary) == ends.length)
      assert(shape.lastEnd(boundary) == clamp(ends.last))
    }
  }

  test("a window of no frames, of too many, or out of phase is refused") {
    intercept[InvalidArgument](Sliding(0))
    intercept[InvalidArgument](Sliding(WindowShape.MostFrames + 1))
    intercept[InvalidArgument](Sliding(3, every = 4))
    intercept[InvalidArgument](Sliding(3, every = 0))
    intercept[InvalidArgument](Sliding(3, every = 2, phase = 2))
    intercept[InvalidArgument](Cumulative(3, 3))
    intercept[InvalidArgument](Cumulative(3, -1))
  }
}
