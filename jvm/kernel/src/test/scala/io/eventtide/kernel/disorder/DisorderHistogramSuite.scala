package io.eventtide.kernel.disorder

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.{Saved, UnknownStateVersion}

final class DisorderHistogramSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val disorder: Gen[Long] = for {
    power <- Gen.choose(0, 62)
    value <- Gen.choose(-(1L << power), 1L << power)
  } yield value

  private val disorders = Gen.listOf(disorder)

  private def counted(rows: Seq[Long]): DisorderHistogram = {
    val all = new DisorderHistogram
    rows.foreach(all.add)
    all
  }

  private def stepsOf(histogram: DisorderHistogram): Seq[(Long, Long)] = {
    val steps = mutable.ArrayBuffer.empty[(Long, Long)]
    histogram.foreach((disorder, rows) => steps += disorder -> rows)
    steps.toSeq
  }

  private def saved(histogram: DisorderHistogram) = Saved.by(histogram.save)

  // The end of the step of a disorder: a higher row makes it an inner step.
  private def endOf(disorder: Long): Long =
    stepsOf(counted(Seq(disorder, Long.MaxValue))).head._1

  test("a step is exact up to 16, and at most an eighth wide above") {
    val powers = (0 to 62).map(1L << _)
    val all = powers ++ powers.map(_ + 1) ++ powers.map(_ - 1) ++ (0L to 40L) :+ Long.MaxValue
    all.foreach { disorder =>
      val found = endOf(disorder)
      val most = if (disorder < 16) 0 else disorder / 8
      assert(found >= disorder && found - disorder <= most, s"$disorder is $found")
    }
  }

  test("the highest disorder is exact") {
    forAll(disorders) { rows =>
      assert(
        counted(rows).longest == (0L +: rows).max && counted(rows).lagFor(0) == (0L +: rows).max
      )
    }
  }

  test("rows at or above the reached time have no disorder") {
    val rows = counted(Seq(0, -1, Long.MinValue))
    assert(rows.rows == 3 && rows.longest == 0 && stepsOf(rows) == Seq(0L -> 3L))
  }

  test("the steps are visited in order, each with its highest disorder") {
    assert(stepsOf(counted(Seq(3, 17, 16, 3, 1000))) == Seq(3L -> 2L, 17L -> 2L, 1000L -> 1L))
  }

  test("the rows beyond the end of a step are those that a lag of this end makes late") {
    forAll(disorders, disorder) { (rows, any) =>
      val end = endOf(math.max(0, any))
      val late = stepsOf(counted(rows)).collect {
        case (from, count) if from > end => count
      }
      assert(late.sum == rows.count(_ > end))
    }
  }

  test("the lag for a number of late rows is the lowest one, up to a step") {
    forAll(disorders, Gen.choose(0, 20)) { (rows, most) =>
      val histogram = counted(rows)
      val lag = histogram.lagFor(most.toLong)
      assert(rows.count(_ > lag) <= most)
      val lowest = (0L +: rows).filter(at => at >= 0 && rows.count(_ > at) <= most).min
      assert(lag == math.min(endOf(lowest), histogram.longest))
    }
  }

  test("merging gives the histogram of all rows, in any order") {
    forAll(disorders, disorders) { (some, others) =>
      val merged = counted(some)
      merged.merge(counted(others))
      assert(saved(merged) == saved(counted(others.reverse ++ some)))
      assert(merged.rows == some.size + others.size)
    }
  }

  test("halving halves each step, rounded down") {
    val rows = counted(Seq(1, 1, 1, 1, 5, 9, 9))
    rows.halve()
    assert(stepsOf(rows) == Seq(1L -> 2L, 9L -> 1L) && rows.rows == 3)
    rows.halve()
    rows.halve()
    assert(stepsOf(rows).isEmpty && rows.rows == 0 && rows.lagFor(0) == 0 && rows.longest == 9)
  }

  test("a restored histogram is the saved one, and replaces what was there") {
    forAll(disorders) { rows =>
      val restored = counted(Seq(7, 8, 9))
      saved(counted(rows)).into(restored.restore)
      assert(saved(restored) == saved(counted(rows)) && restored.rows == rows.size)
    }
  }

  test("an unknown format is refused") {
    val other = saved(counted(Seq(1))).withVersion(2)
    assertThrows[UnknownStateVersion](new DisorderHistogram().restore(other.input))
  }
}
