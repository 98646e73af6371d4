package io.eventtide.kernel.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument

final class FutureGuardSuite extends AnyFunSuite {

  test("an event exactly at the limit is accepted, one unit further is not") {
    FutureGuard.modes.foreach { mode =>
      val guard = FutureGuard(10, mode)
      assert(guard.decide(100, 110) == FutureGuard.Accept)
      assert(guard.decide(100, 111) == mode)
    }
  }

  test("the limit clamps at the end of the range") {
    val guard = FutureGuard(Long.MaxValue, FutureGuard.Fail)
    assert(guard.limit(1) == Long.MaxValue)
    assert(guard.decide(1, Long.MaxValue) == FutureGuard.Accept)
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
