package io.eventtide.kernel.time

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

final class ClampedSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def clamp(exact: BigInt): Long =
    exact.max(BigInt(Long.MinValue)).min(BigInt(Long.MaxValue)).toLong

  test("a sum is exact where it fits and the end of the range where it does not") {
    forAll { (a: Long, b: Long) => assert(Clamped.add(a, b) == clamp(BigInt(a) + b)) }
  }

  test("a difference is exact where it fits and the end of the range where it does not") {
    forAll { (a: Long, b: Long) => assert(Clamped.subtract(a, b) == clamp(BigInt(a) - b)) }
  }

  test("both ends of the range absorb what goes beyond them") {
    assert(Clamped.add(Long.MaxValue, 1) == Long.MaxValue)
    assert(Clamped.add(Long.MinValue, -1) == Long.MinValue)
    assert(Clamped.subtract(Long.MinValue, 1) == Long.MinValue)
    assert(Clamped.subtract(0, Long.MinValue) == Long.MaxValue)
  }
}
