package io.eventtide.kernel.watermark

import org.scalacheck.Gen

import io.eventtide.kernel.testkit.PolicyEvent
import io.eventtide.kernel.testkit.PolicyEvent._

/** Random policies, throttles and histories, in ranges narrow enough for things to meet. */
object Generators {
  private val lag = Gen.choose(0L, 12L)

  /** Policies that only rows move, whatever the batches they come in. */
  val byRow: Gen[PolicySpec] = Gen.oneOf(lag.map(WithFixedLag(_)), lag.map(StormLag(_)))

  private val lull = Gen.zip(lag, lag).map { case (lag, lull) => LimitingLagAndLull(lag, lull) }

  private val delay = Gen.zip(lag, Gen.choose(1, 4), lag).map { case (lag, samples, more) =>
    LimitingLagAndDelay(lag, samples + more, samples)
  }

  /** Policies that the clock moves, but only as far as time passed since a row. */
  val timers: Gen[PolicySpec] = Gen.oneOf(lull, delay)

  private val simple: Gen[PolicySpec] = Gen.oneOf(
    byRow,
    timers,
    Gen.zip(lag, lag).map { case (a, b) => LimitingTimestampAndWallClockLag(a, b) },
    lag.map(LimitingRealTimeLag(_)),
    Gen.const(WithIngestionTime()),
    Gen.const(WatermarkFrom("mark")),
    Gen.const(MinEventTime()),
    Gen.const(MinEventTimeOfAll()),
    Gen.const(MaxEventTime())
  )

  private def combined(inside: Gen[PolicySpec]): Gen[PolicySpec] = for {
    size <- Gen.choose(1, 3)
    children <- Gen.listOfN(size, inside)
    spec <- Gen.oneOf(MinOf(children), MaxOf(children))
  } yield spec

  /** Any policy, algebra in algebra included. */
  val policies: Gen[PolicySpec] =
    Gen.frequency(4 -> simple, 1 -> combined(simple), 1 -> combined(combined(simple)))

  /** Policies that learn their lag from late rows, alone or beside another policy. */
  val learning: Gen[PolicySpec] = for {
    share <- Gen.oneOf(0L, 100000L, 300000L, 1000000L)
    maxLag <- lag
    start <- lag
    memory <- Gen.choose(1L, 20L)
    forgives <- Gen.oneOf(true, false)
    other <- simple
    alone = WithLateTarget(share, maxLag, start, memory, forgives)
    spec <- Gen.oneOf(alone, MaxOf(Seq(alone, other)), MinOf(Seq(other, alone)))
  } yield spec

  /** Policies for substreams that are named s0, s1 and so on. */
  val bySubstream: Gen[PolicySpec] = for {
    patterns <- Gen.someOf("s0", "s2", "s*1", "*3")
    children <- Gen.listOfN(patterns.length + 1, Gen.oneOf(simple, combined(simple)))
  } yield BySubstream((patterns.toSeq :+ "*").zip(children))

  private val waiting = Gen.frequency(3 -> Gen.choose(0L, 6L), 1 -> Gen.choose(-3L, 40L))
  val time: Gen[Long] = Gen.choose(-30L, 60L)

  val event: Gen[PolicyEvent] = Gen.frequency(
    3 -> waiting.map(Tick(_)),
    1 -> waiting.map(Skip(_)),
    3 -> Gen.zip(waiting, time).map { case (pause, ts) => Row(pause, ts) },
    2 -> Gen.zip(waiting, Gen.nonEmptyListOf(time)).map { case (pause, ts) => Batch(pause, ts) }
  )

  val events: Gen[List[PolicyEvent]] = Gen.listOf(event)

  /** Any time, with both ends of the range much more often than chance has it. */
  val anyTime: Gen[Long] = Gen.oneOf(
    Gen.choose(Long.MinValue, Long.MinValue + 20),
    Gen.choose(-20L, 20L),
    Gen.choose(Long.MaxValue - 20, Long.MaxValue),
    Gen.long
  )

  /** Throttles whose answer does not depend on the clock. */
  val freeThrottles: Gen[List[ThrottleSpec]] = Gen.resize(
    3,
    Gen.listOf(
      Gen.oneOf[ThrottleSpec](
        for {
          size <- Gen.choose(1L, 12L); offset <- Gen.choose(0L, size - 1)
        } yield ThrottleByFrame(size, offset),
        Gen.choose(1L, 12L).map(ThrottleByMinStep(_))
      )
    )
  )

  /** Any throttles, a timer among them. */
  val throttles: Gen[List[ThrottleSpec]] = for {
    free <- freeThrottles
    timer <- Gen.choose(1L, 12L).map(EmitEvery(_))
    chain <- Gen.oneOf(free, timer :: free, free :+ timer)
  } yield chain
}
