package io.eventtide.spark.latelog

import org.scalatest.funsuite.AnyFunSuite

class LatenessHistogramSuite extends AnyFunSuite {

  private def counted(lengths: Long*): LatenessHistogram = {
    val counter = new LatenessHistogramBuilder
    lengths.foreach(counter.add)
    counter.counted
  }

  test("a length is at most an eighth too long, and never too short") {
    val powers = (0 to 61).map(1L << _)
    val lengths = powers ++ powers.map(_ + 1) ++ powers.map(_ * 3 / 2) :+ 86399999999L
    lengths.foreach { length =>
      val found = counted(length).atMost(1).get
      assert(found >= length && found - length <= length / 8, s"$length is $found")
    }
  }

  test("nine of ten, and all, over several tasks") {
    val near = counted(Seq.fill(8)(1000000L): _*)
    val far = counted(2000000L, 86400000000L)
    val both = near ++ far
    assert(both.atMost(0.8) == near.atMost(1))
    assert(both.atMost(0.9) == counted(2000000L).atMost(1))
    assert(both.atMost(1) == counted(86400000000L).atMost(1))
  }

  test("extremes have a place, and no rows have no length") {
    assert(counted(Long.MaxValue).atMost(1).contains(Long.MaxValue))
    assert(counted(0L, -5L).atMost(1).contains(1L))
    assert(LatenessHistogram.None.atMost(1).isEmpty && counted() == LatenessHistogram.None)
  }
}
