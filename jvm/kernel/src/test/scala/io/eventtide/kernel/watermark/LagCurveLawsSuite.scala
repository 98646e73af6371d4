package io.eventtide.kernel.watermark

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.disorder.DisorderHistogram

/** One histogram has the late rows of every fixed lag, with any number of substreams. */
final class LagCurveLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500, sizeRange = 40)

  private type Rows = Seq[(Int, Long)] // the substream and the time of each row

  private val step = for {
    pause <- Gen.choose(0L, 9L)
    rows <- Gen.listOf(Gen.zip(Gen.choose(0, 4), Gen.choose(-100L, 100L)))
    ahead <- Gen.choose(0L, 60L)
  } yield (pause, rows, ahead)

  /** Batches that go on in time, each with its clock value. */
  private val batches: Gen[Seq[(Long, Rows)]] = Gen.listOf(step).map { steps =>
    val clocks = steps.scanLeft(0L)(_ + _._1).tail
    val shifts = steps.scanLeft(0L)(_ + _._3).tail
    steps.zip(clocks).zip(shifts).map { case (((_, rows, _), clock), shift) =>
      clock -> rows.map { case (substream, time) => substream -> (time + shift) }
    }
  }

  /** Plays batches under a fixed lag; returns the late rows, and the disorder of all rows. */
  private def played(
      lag: Long,
      timeout: Option[Long],
      batches: Seq[(Long, Rows)]
  ): (Long, DisorderHistogram) = {
    val substreams = new Substreams(WithFixedLag(lag), idleTimeout = timeout)
    val disorder = new DisorderHistogram
    val reached = new MonotonicMax
    var late = 0L
    batches.foreach { case (now, rows) =>
      late += rows.count(row => substreams.emitted.exists(row._2 < _))
      rows.foreach { case (_, time) =>
        disorder.add(if (reached.known) reached.value - time else 0)
      }
      val seen = rows.groupMap(_._1)(_._2).toSeq.sortBy(_._1).map { case (of, times) =>
        val index = substreams.indexOf(s"s$of").getOrElse(substreams.declare(s"s$of", now))
        SubstreamRows(index, times.max, times.min, times.size.toLong)
      }
      substreams.observeBatch(now, seen): Unit
      substreams.lowestTop(now).foreach(reached.raise(_): Unit)
    }
    (late, disorder)
  }

  private def stepsOf(disorder: DisorderHistogram): Seq[(Long, Long)] = {
    val steps = Seq.newBuilder[(Long, Long)]
    disorder.foreach((end, rows) => steps += end -> rows)
    steps.result()
  }

  for (timeout <- Seq(None, Some(12L)))
    test(s"the curve of one run equals replays with other lags, with idle timeout $timeout") {
      forAll(batches) { batches =>
        val (_, curve) = played(lag = 7, timeout, batches)
        stepsOf(curve).foreach { case (lag, _) =>
          val (late, same) = played(lag, timeout, batches)
          val beyond = stepsOf(curve).filter(_._1 > lag).map(_._2).sum
          assert(late == beyond, s"with $lag")
          assert(stepsOf(same) == stepsOf(curve))
        }
      }
    }
}
