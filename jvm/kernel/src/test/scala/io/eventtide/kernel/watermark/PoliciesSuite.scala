package io.eventtide.kernel.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument

final class PoliciesSuite extends AnyFunSuite {

  /** The smallest values that each reader takes. */
  private def smallest(reader: PolicyFactory): PolicySpec = Policies.read(
    reader.name,
    reader.params
      .map(param => param.name -> param.default.getOrElse(Math.max(param.least, 16)))
      .toMap,
    if (reader.takesChildren) Seq(WithFixedLag(1)) else Nil
  )

  test("every registered policy can be made by its name and calls itself by it") {
    Policies.all.foreach(reader => assert(smallest(reader).name == reader.name))
    assert(Policies.all.map(_.name).distinct.size == Policies.all.size)
  }

  test("every policy shows the parameters that its reader lists, in that order") {
    Policies.all.foreach { reader =>
      assert(smallest(reader).parameters.map(_._1) == reader.params.map(_.name))
    }
  }

  test("every parameter refuses a value below its bounds, in words") {
    for {
      reader <- Policies.all
      param <- reader.params
    } {
      val values = reader.params.map(p => p.name -> p.default.getOrElse(16L)).toMap
      val refusal = intercept[InvalidArgument] {
        Policies.read(reader.name, values + (param.name -> (param.least - 1)))
      }
      assert(
        refusal.getMessage ==
          s"${param.name} must be ${param.allowed}, but was ${param.least - 1}"
      )
    }
  }

  test("a parameter that is left out has its default") {
    val read = Policies.read("limiting_lag_and_delay", Map("lag" -> 1, "max_delay" -> 20))
    assert(read == LimitingLagAndDelay(1, 20, 16))
  }

  test("a required parameter that is missing is refused by name") {
    val refusal = intercept[InvalidArgument](Policies.read("with_fixed_lag"))
    assert(
      refusal.getMessage ==
        "lag of with_fixed_lag must be zero or more, but was missing"
    )
  }

  test("a parameter that the policy does not have is refused with those it has") {
    val refusal = intercept[InvalidArgument] {
      Policies.read("limiting_lag_and_lull", Map("lag" -> 1, "max_lul" -> 1))
    }
    assert(
      refusal.getMessage ==
        "parameter of limiting_lag_and_lull must be one of lag, max_lull, but was max_lul"
    )
  }

  test("a name that no policy has is refused with those there are") {
    val refusal = intercept[InvalidArgument](Policies.read("fixed_lag"))
    assert(refusal.getMessage.startsWith("policy must be one of with_fixed_lag, limiting_lag"))
    assert(refusal.value == "fixed_lag")
  }

  test("policies inside are for the algebra only, and there must be one") {
    intercept[InvalidArgument](Policies.read("storm", Map("lag" -> 1), Seq(MinEventTime())))
    intercept[InvalidArgument](Policies.read("min_of"))
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
  }

  test("every throttle can be made by its name, and refuses a value below its bounds") {
    Throttles.all.foreach { reader =>
      val values = reader.params.map(p => p.name -> p.default.getOrElse(16L)).toMap
      assert(Throttles.read(reader.name, values).name == reader.name)
      assert(Throttles.read(reader.name, values).parameters.map(_._1) == reader.params.map(_.name))
      reader.params.foreach { param =>
        intercept[InvalidArgument](
          Throttles.read(reader.name, values + (param.name -> (param.least - 1)))
        )
      }
    }
    intercept[InvalidArgument](Throttles.reader("throttle"))
  }
}
