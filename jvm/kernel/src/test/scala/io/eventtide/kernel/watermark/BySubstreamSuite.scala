package io.eventtide.kernel.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.{IncompatibleState, InvalidArgument, Saved}

final class BySubstreamSuite extends AnyFunSuite {
  private val lags = BySubstream(Seq("eu-*" -> WithFixedLag(60), "*" -> WithFixedLag(5)))

  private def kindOf(spec: PolicySpec, name: String): String = spec.forSubstream(name).toString

  test("the first pattern that matches decides, and a star is any text") {
    val spec = BySubstream(
      Seq(
        "a" -> WithFixedLag(1),
        "a*z" -> WithFixedLag(2),
        "*.5" -> WithFixedLag(3),
        "*" -> WithFixedLag(4)
      )
    )
    val lagOf = Seq("a" -> 1, "az" -> 2, "a\nz" -> 2, "b.5" -> 3, "b25" -> 4, "" -> 4, "A" -> 4)
    for ((name, lag) <- lagOf) assert(kindOf(spec, name) == s"with_fixed_lag(lag=$lag)", name)
  }

  test("each substream follows its own policy, and the lowest watermark counts") {
    val of = new Substreams(lags)
    Seq("eu-1", "us").foreach(of.declare(_, 0): Unit)
    of.observeBatch(0, Seq(SubstreamRows(0, 100, 100, 1), SubstreamRows(1, 90, 90, 1))): Unit
    assert(of.report.map(_.watermark) == Seq(Some(40), Some(85)) && of.emitted == Some(40))
  }

  test("a declared substream that gets its name gets the policy of the name") {
    val of = new Substreams(lags)
    of.declare("expected 1", 0): Unit
    of.tick(5): Unit
    of.rename(0, "eu-1", 5)
    of.observeBatch(6, Seq(SubstreamRows(0, 100, 100, 1))): Unit
    assert(of.emitted == Some(40))
    val again = new Substreams(lags)
    Saved.by(of.saveWhole).into(again.restore(_))
    again.observeBatch(7, Seq(SubstreamRows(0, 110, 110, 1))): Unit
    assert(again.emitted == Some(50))
  }

  test("inside a combination each substream has its own child, too") {
    val spec = MinOf(Seq(lags, WithFixedLag(10)))
    assert(kindOf(spec, "eu-1") == "min_of(with_fixed_lag(lag=60), with_fixed_lag(lag=10))")
    assert(spec.isBySubstream && !WithFixedLag(1).isBySubstream)
  }

  test("patterns may change where all children are of one structure, and not elsewhere") {
    val one = new Substreams(lags)
    one.declare("us", 0): Unit
    val saved = Saved.by(one.saveWhole)
    val other = BySubstream(Seq("us" -> WithFixedLag(7), "*" -> WithFixedLag(5)))
    saved.into(new Substreams(other).restore(_))
    val mixed = BySubstream(Seq("us" -> MaxEventTime(), "*" -> WithFixedLag(5)))
    assert(mixed.structure == "by_substream(us: max_event_time, *: with_fixed_lag)")
    intercept[IncompatibleState](saved.into(new Substreams(mixed).restore(_)))
  }

  test("patterns without an end, and those given twice, are refused") {
    for (patterns <- Seq(Seq("a"), Seq("*", "a"), Seq("a", "a", "*"), Seq("*", "*")))
      intercept[InvalidArgument](BySubstream(patterns.map(_ -> WithFixedLag(1))))
    intercept[InvalidArgument](BySubstream(Nil))
  }
}
