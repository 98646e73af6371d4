package io.eventtide.kernel.window

import org.scalacheck.Gen

import io.eventtide.kernel.time.Frame

/** Random windows and times, with both ends of the range much more often than chance has it. */
object WindowGenerators {
  val shapes: Gen[WindowShape] = Gen.oneOf(
    Gen.oneOf(1, 2, 3, 5, 12, 40).map(Sliding(_)),
    Gen.oneOf(1, 3, 7).flatMap(n => Gen.choose(0, n - 1).map(Cumulative(n, _)))
  )

  val grids: Gen[Frame] = for {
    size <- Gen.oneOf(Gen.const(1L), Gen.choose(1L, 20L), Gen.choose(1L, Long.MaxValue))
    offset <- Gen.choose(0L, size - 1)
  } yield Frame(size, offset)

  private val ends: Gen[Long] = Gen.oneOf(
    Gen.choose(Long.MinValue, Long.MinValue + 20),
    Gen.choose(Long.MaxValue - 20, Long.MaxValue)
  )

  /** Times, frames or boundaries. */
  val numbers: Gen[Long] = Gen.frequency(2 -> Gen.choose(-200L, 200L), 1 -> ends, 1 -> Gen.long)
}
