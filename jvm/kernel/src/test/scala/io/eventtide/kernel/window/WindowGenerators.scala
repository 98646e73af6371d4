package io.eventtide.kernel.window

import org.scalacheck.Gen

import io.eventtide.kernel.time.Frame

/** Random windows and times, with both ends of the range much more often than chance has it. */
object WindowGenerators {
  val shapes: Gen[WindowShape] = Gen.oneOf(
    Gen.oneOf(1, 2, 3, 5, 12, 40).map(Sliding(_)),
    Gen.oneOf(1, 3, 7).flatMap(n => Gen.choose(0, n - 1).map(Cumulative(n, _)))
  )

  /** Windows that end at each n-th boundary. */
  val spacedShapes: Gen[Sliding] = for {
    every <- Gen.oneOf(1, 2, 3, 7)
    most <- Gen.oneOf(0, 1, 2, 5, 30)
    phase <- Gen.choose(0, every - 1)
  } yield Sliding(every + most, every, phase)

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
