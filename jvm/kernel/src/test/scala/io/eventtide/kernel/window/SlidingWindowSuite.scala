package io.eventtide.kernel.window

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Frame

final class SlidingWindowSuite extends AnyFunSuite {

  test("a tumbling window is one frame") {
    assert(SlidingWindow.tumbling(123) == SlidingWindow(123, 123))
    assert(SlidingWindow.tumbling(123).frame == Frame(123))
  }

  test("a sliding window is made of frames as long as its slide") {
    assert(SlidingWindow(1000, 100, 30).frame == Frame(100, 30))
  }

  test("tumbling by frame keeps the offset and shortens the window to one frame") {
    assert(SlidingWindow(1000, 100, 30).toTumblingByFrame == SlidingWindow(100, 100, 30))
  }

  test("another offset makes another object") {
    val before = SlidingWindow(1000, 100)
    assert(before.withOffset(10).offset == 10)
    assert(before.offset == 0)
  }

  test("a size that is not made of whole slides is refused") {
    intercept[InvalidArgument](SlidingWindow(25, 10))
    intercept[InvalidArgument](SlidingWindow(0, 10))
    intercept[InvalidArgument](SlidingWindow(5, 10))
    intercept[InvalidArgument](SlidingWindow(10, 0))
  }
}
