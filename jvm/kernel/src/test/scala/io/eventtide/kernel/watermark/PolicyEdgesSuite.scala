package io.eventtide.kernel.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.{Saved, UnknownStateVersion}

/** Edges of single policies; what holds for all of them is in `PolicyLawsSuite`. */
final class PolicyEdgesSuite extends AnyFunSuite {

  private def observed(policy: WatermarkPolicy): Option[Long] =
    Option.when(policy.known)(policy.watermark)

  test("a fixed lag at the low end of the range clamps instead of wrapping") {
    val policy = WithFixedLag(10).create()
    policy.observe(0, Long.MinValue + 9)
    assert(observed(policy) == Some(Long.MinValue))
    policy.observe(0, 0)
    assert(observed(policy) == Some(-10))
  }

  test("a fixed lag is due already or never, whatever the clock") {
    val policy = WithFixedLag(10).create()
    assert(policy.dueAt(Long.MinValue) == WatermarkPolicy.Never)
    policy.observe(5, 100)
    assert(policy.dueAt(90) <= 5)
    assert(policy.dueAt(91) == WatermarkPolicy.Never)
  }

  test("a lull of zero length moves in lockstep from the row on") {
    val policy = LimitingLagAndLull(5, 0).create()
    policy.observe(0, 7)
    policy.tick(2)
    assert(observed(policy) == Some(4))
  }

  test("an equal watermark does not end a lull") {
    val policy = LimitingLagAndLull(0, 3).create()
    policy.observe(0, 10)
    policy.observe(2, 10)
    policy.tick(4)
    assert(observed(policy) == Some(11))
  }

  test("a lull at the high end of the range clamps instead of wrapping") {
    val policy = LimitingLagAndLull(0, 0).create()
    policy.observe(Long.MinValue, Long.MaxValue - 1)
    policy.tick(Long.MaxValue)
    assert(observed(policy) == Some(Long.MaxValue))
  }

  test("time skipped lengthens a lull") {
    val policy = LimitingLagAndLull(0, 10).create()
    policy.observe(0, 100)
    policy.tick(4)
    policy.skip(1000)
    policy.tick(1006)
    assert(observed(policy) == Some(100))
    policy.tick(1007)
    assert(observed(policy) == Some(101))
  }

  test("time skipped in the middle of lockstep does not move it") {
    val policy = LimitingLagAndLull(0, 0).create()
    policy.observe(0, 100)
    policy.skip(50)
    assert(observed(policy) == Some(100))
    policy.tick(51)
    assert(observed(policy) == Some(101))
  }

  test("a delay is counted without the time skipped") {
    val policy = LimitingLagAndDelay(50, 8, 8).create()
    policy.observe(0, 100)
    policy.skip(1000)
    policy.tick(1007)
    assert(observed(policy) == Some(50))
    policy.tick(1008)
    assert(observed(policy) == Some(100))
  }

  test("the delay policy stops at the highest time, however long the silence") {
    val policy = LimitingLagAndDelay(50, 8, 8).create()
    policy.observe(0, 100)
    policy.tick(Long.MaxValue)
    assert(observed(policy) == Some(100))
    assert(policy.dueAt(101) == WatermarkPolicy.Never)
  }

  test("the real-time policy is known from the first tick, without rows") {
    val policy = LimitingRealTimeLag(10).create()
    assert(!policy.known)
    policy.tick(100)
    assert(observed(policy) == Some(90))
    policy.observe(100, 500)
    assert(observed(policy) == Some(90))
  }

  test("after a skip the real-time policy waits for a clock value above it") {
    val policy = LimitingRealTimeLag(10).create()
    policy.tick(100)
    policy.skip(200)
    policy.tick(200)
    assert(observed(policy) == Some(90))
    assert(policy.dueAt(150) == 201)
    policy.tick(201)
    assert(observed(policy) == Some(191))
  }

  test("ingestion time is the clock itself") {
    val policy = WithIngestionTime().create()
    policy.observe(7, 7)
    assert(observed(policy) == Some(7))
  }

  test("a row from the future drags the wall-clock policy ahead, and the clock catches up") {
    val policy = LimitingTimestampAndWallClockLag(3, 10).create()
    policy.observe(100, 500)
    assert(observed(policy) == Some(497))
    assert(policy.dueAt(498) == 508)
  }

  test("the lowest time of a batch never takes the watermark back") {
    val policy = MinEventTime().create()
    policy.observe(0, 20, 10)
    policy.observe(0, 30, 5)
    assert(observed(policy) == Some(10))
    policy.observe(0, 30, 25)
    assert(observed(policy) == Some(25))
  }

  test("the highest time of a batch is the watermark at once") {
    val policy = MaxEventTime().create()
    policy.observe(0, 20, 10)
    assert(observed(policy) == Some(20))
    policy.observe(0, 15)
    assert(observed(policy) == Some(20))
  }

  test("the lowest of several is unknown while one is, the highest leaves unknown ones out") {
    val children = Seq(WithFixedLag(5), LimitingRealTimeLag(10))
    val (lowest, highest) = (MinOf(children).create(), MaxOf(children).create())
    Seq(lowest, highest).foreach(_.tick(100))
    assert(observed(lowest).isEmpty)
    assert(observed(highest) == Some(90))
    Seq(lowest, highest).foreach(_.observe(100, 50))
    assert(observed(lowest) == Some(45))
    assert(observed(highest) == Some(90))
  }

  test("the clock of a policy does not run back") {
    val policy = LimitingRealTimeLag(0).create()
    policy.tick(100)
    policy.tick(50)
    policy.skip(60)
    assert(observed(policy) == Some(100))
  }

  test("state of an unknown version is refused by name, for every policy") {
    Seq(
      WithFixedLag(1),
      LimitingLagAndDelay(1, 16),
      LimitingLagAndLull(1, 1),
      LimitingTimestampAndWallClockLag(1, 1),
      LimitingRealTimeLag(1),
      WithIngestionTime(),
      MinEventTime(),
      MaxEventTime(),
      StormLag(1),
      MinOf(Seq(StormLag(1))),
      MaxOf(Seq(StormLag(1)))
    ).foreach { spec =>
      val newer = Saved.by(spec.create().save(_)).withVersion(2)
      val refusal = intercept[UnknownStateVersion](spec.create().restore(newer.input))
      assert(refusal.getMessage.endsWith("has format version 2, but the one known here is 1"))
      intercept[UnknownStateVersion](spec.create().restore(newer.withVersion(0).input))
    }
  }

  test("one tick or a million are the same to a policy that rows move") {
    val (often, once) = (WithFixedLag(2).create(), WithFixedLag(2).create())
    (0L until 1000L).foreach(often.tick)
    Seq(often, once).foreach(_.observe(1000, 7))
    assert(observed(often) == observed(once))
  }
}
