package io.eventtide.kernel.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument

final class PoliciesSuite extends AnyFunSuite {

  /** Small values that every kind takes. */
  private def values(kind: RuleKind): Seq[Long] =
    kind.params.map(param => param.default.getOrElse(16L))

  private def policy(kind: PolicyKind, values: Seq[Long]): PolicySpec =
    if (kind == BySubstream) BySubstream(Seq(BySubstream.Others -> WithFixedLag(1)))
    else PolicySpec(kind, values, if (kind.takesChildren) Seq(WithFixedLag(1)) else Nil)

  /** Values of which one is below its bound, and the message that refuses them. */
  private def belowBounds(kind: RuleKind): Seq[(Seq[Long], String)] =
    kind.params.zipWithIndex.map { case (param, i) =>
      val below = param.least - 1
      values(kind).updated(i, below) -> s"${param.name} must be ${param.allowed}, but was $below"
    }

  test("every policy and throttle has a name of its own") {
    val names = (Policies.builtIn ++ Throttles.all).map(_.name)
    assert(names.distinct == names)
  }

  test("every policy refuses a value below its bounds, in words") {
    Policies.builtIn.foreach { kind =>
      policy(kind, values(kind)): Unit
      belowBounds(kind).foreach { case (values, message) =>
        assert(intercept[InvalidArgument](policy(kind, values)).getMessage == message)
      }
    }
  }

  test("every throttle refuses a value below its bounds, in words") {
    Throttles.all.foreach { kind =>
      ThrottleSpec(kind, values(kind)): Unit
      belowBounds(kind).foreach { case (values, message) =>
        assert(intercept[InvalidArgument](ThrottleSpec(kind, values)).getMessage == message)
      }
    }
  }

  test("values that do not go together are refused") {
    intercept[InvalidArgument](ThrottleByFrame(5, 5))
    intercept[InvalidArgument](LimitingLagAndDelay(0, 3, 4))
  }

  test("policies inside are for the algebra only, and there must be one") {
    intercept[InvalidArgument](PolicySpec(StormLag, Seq(1), Seq(MinEventTime())))
    intercept[InvalidArgument](MinOf(Nil))
    intercept[InvalidArgument](MaxOf(Nil))
  }

  test("a policy prints itself with its parameters and what is inside") {
    val spec = MinOf(Seq(WithFixedLag(5), MaxOf(Seq(LimitingLagAndLull(1, 2), MinEventTime()))))
    assert(
      spec.toString == "min_of(with_fixed_lag(lag=5), " +
        "max_of(limiting_lag_and_lull(lag=1, max_lull=2), min_event_time()))"
    )
  }

  test("the structure is the kinds and their nesting without parameters") {
    val spec = MinOf(Seq(WithFixedLag(5), MaxOf(Seq(MinEventTime()))))
    assert(spec.structure == "min_of(with_fixed_lag, max_of(min_event_time))")
  }

  test("an algebra moves with the clock when one inside does, and needs what one inside needs") {
    assert(!MinOf(Seq(WithFixedLag(5))).movesWithClock)
    assert(MinOf(Seq(WithFixedLag(5), LimitingRealTimeLag(1))).movesWithClock)
    assert(MinOf(Seq(WithFixedLag(5), StormLag(1))).needsDeclaredSubstreams)
    assert(MinOf(Seq(WithFixedLag(5), StormLag(7))).lag == 7)
  }
}
