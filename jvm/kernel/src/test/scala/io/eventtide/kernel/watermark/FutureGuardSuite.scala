package io.eventtide.kernel.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument

final class FutureGuardSuite extends AnyFunSuite {

  test("the limit is a distance ahead of the clock, and clamps at the end of the range") {
    assert(FutureGuard(10, FutureGuard.Late).limit(100) == 110)
    assert(FutureGuard(Long.MaxValue, FutureGuard.Fail).limit(1) == Long.MaxValue)
  }

  test("a negative distance is refused") {
    intercept[InvalidArgument](FutureGuard(-1, FutureGuard.Late))
  }
}
