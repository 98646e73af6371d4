package io.eventtide.kernel.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument

final class FutureGuardSuite extends AnyFunSuite {

  test("the limit is a distance ahead of the clock, and clamps at the end of the range") {
    assert(FutureGuard(10, FutureGuard.Late).limit(100) == 110)
    assert(FutureGuard(Long.MaxValue, FutureGuard.Fail).limit(1) == Long.MaxValue)
  }

  test("a mode is found by its name, and an unknown one is refused with those there are") {
    assert(FutureGuard.modes.map(mode => FutureGuard.mode(mode.name)) == FutureGuard.modes)
    val refusal = intercept[InvalidArgument](FutureGuard.mode("drop"))
    assert(refusal.getMessage == "on must be one of clamp, late, fail, but was drop")
  }

  test("a negative distance is refused") {
    intercept[InvalidArgument](FutureGuard(-1, FutureGuard.Late))
  }

  test("a guard prints itself as an option") {
    assert(FutureGuard(5, FutureGuard.Clamp).toString == "guard_future(max_ahead=5, on=clamp)")
  }
}
