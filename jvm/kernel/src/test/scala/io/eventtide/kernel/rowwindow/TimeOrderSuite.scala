package io.eventtide.kernel.rowwindow

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class TimeOrderSuite extends AnyFunSuite {
  private def order(times: Long*): Seq[Int] = TimeOrder.of(times.toArray, times.length).toSeq

  private def checked(times: Seq[Long]): Unit =
    assert(order(times: _*) == times.indices.sortBy(times(_))): Unit

  test("no row, and one row") {
    assert(order().isEmpty)
    assert(order(5) == Seq(0))
  }

  test("rows with equal times stay in order of arrival") {
    assert(order(7, 3, 7, 3, 3) == Seq(1, 3, 4, 0, 2))
  }

  test("only the first times count") {
    assert(TimeOrder.of(Array(2L, 1L, 0L), 2).toSeq == Seq(1, 0))
  }

  test("times at both ends of the range") {
    checked(Seq(Long.MaxValue, 0L, Long.MinValue, -1L, Long.MaxValue, Long.MinValue))
    checked(Seq(Long.MaxValue, Long.MaxValue - 1, Long.MaxValue))
    checked(Seq(Long.MinValue + 1, Long.MinValue))
  }

  test("times whose distances need almost all bits") {
    for (shift <- 55 to 62) checked(Seq(1L << shift, 0L, (1L << shift) - 1, 1L, 1L << shift))
  }

  test("rows in any order: little out of order, from last to first, and at random") {
    val random = new Random(3)
    checked((0 until 1000).map(i => i * 10L + random.nextInt(100)))
    checked((0 until 1000).map(i => -i.toLong))
    checked(Seq.fill(1000)(random.nextInt(100).toLong))
    checked(Seq.fill(1000)(random.nextLong()))
  }
}
