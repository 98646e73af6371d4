package io.eventtide.spark.state

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}

/** When keys are due, beside a plain map of them. */
@Slow
final class TimerHistogramSuite extends AnyFunSuite {
  private val Never = FrameWindowState.Never

  private def reread(counts: TimerHistogram): TimerHistogram = {
    val out = new ByteSink
    counts.write(out)
    val in = new ByteSource
    in.reset(out.bytes, 0)
    val read = new TimerHistogram
    read.read(in)
    read
  }

  /** Moves keys about between times; checks the first one after each step. */
  private def play(timeAt: (Int, Random) => Long)(isRight: (Long, Long) => Boolean): Unit = {
    val random = new Random(1)
    val due = mutable.Map.empty[Int, Long]
    var counts = new TimerHistogram
    for (step <- 1 to 20000) {
      val key = random.nextInt(2000)
      val at = if (random.nextInt(3) == 0) Never else timeAt(step, random)
      counts.move(due.getOrElse(key, Never), at)
      due(key) = at
      if (step % 100 == 0) counts = reread(counts)
      val first = due.values.min
      assert(isRight(counts.first, first), s"step $step, first $first")
    }
    due.values.foreach(counts.move(_, Never))
    assert(counts.first == Never)
  }

  test("the first time is exact while there are few different ones") {
    play((step, random) => 1000L * (step / 100 + random.nextInt(9)))(_ == _)
  }

  test("of many times those that are near count together, and none is told too late") {
    play((step, random) => step * 3L + random.nextInt(1000000)) { (found, first) =>
      found <= first && first - found <= 1100000 / 128
    }
  }

  test("times that count together and have begun to come are told when all have come") {
    val counts = new TimerHistogram
    for (i <- 0 until 1000) counts.move(Never, 1000L * i)
    assert(counts.first <= 0)
    assert(counts.firstAfter(counts.first - 1) == counts.first)
    val behind = counts.firstAfter(counts.first)
    assert(behind > counts.first && behind <= counts.first + 1000000 / 128)
  }
}
