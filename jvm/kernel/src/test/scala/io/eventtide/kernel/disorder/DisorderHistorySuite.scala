package io.eventtide.kernel.disorder

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.Saved

final class DisorderHistorySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val Hour = 100L

  private def rows(count: Int, disorder: Long): DisorderHistogram = {
    val all = new DisorderHistogram
    (1 to count).foreach(_ => all.add(disorder))
    all
  }

  private def newHistory(memory: Long = 1000) = new DisorderHistory(memory, Hour)

  private def counts(of: DisorderHistory) = (of.recent.rows, of.lastHour.rows, of.week.rows)

  test("rows go from the present hour to the one before, and then to the week") {
    val history = newHistory()
    history.observe(10, rows(1, 5))
    history.observe(99, rows(2, 5))
    assert(counts(history) == ((3, 3, 0)))
    history.observe(100, rows(4, 5))
    assert(counts(history) == ((7, 7, 0)))
    history.observe(250, rows(8, 5))
    assert(counts(history) == ((15, 12, 3)))
  }

  test("after hours without rows, all earlier rows are in the week") {
    val history = newHistory()
    history.observe(10, rows(3, 5))
    history.observe(1000, rows(1, 5))
    assert(counts(history) == ((4, 1, 3)))
  }

  test("recent rows are halved after the memory, once a batch") {
    val history = newHistory(memory = 10)
    history.observe(0, rows(9, 5))
    assert(history.recent.rows == 9)
    history.observe(0, rows(1, 5))
    assert(history.recent.rows == 5)
    history.observe(0, rows(1000, 7))
    assert(history.recent.rows == 502)
  }

  test("the week is halved every half a week") {
    val history = newHistory()
    history.observe(0, rows(8, 5))
    history.observe(83 * Hour, rows(1, 5))
    assert(history.week.rows == 8)
    history.observe(84 * Hour, rows(1, 5))
    assert(history.week.rows == 4)
    history.observe(Long.MaxValue, rows(1, 5))
    assert(history.week.rows == 0)
  }

  test("the clock never runs back") {
    val history = newHistory()
    history.observe(250, rows(1, 5))
    history.observe(10, rows(2, 5))
    history.observe(Long.MinValue, rows(4, 5))
    assert(counts(history) == ((7, 7, 0)))
  }

  test("a restored history goes on as the saved one") {
    val batches = Gen.listOf(Gen.zip(Gen.choose(0L, 300L), Gen.choose(0, 9), Gen.choose(0L, 99L)))
    forAll(batches, batches) { (before, after) =>
      val history = newHistory(memory = 20)
      var now = 0L
      def play(on: Seq[DisorderHistory], batches: Seq[(Long, Int, Long)]): Unit =
        batches.foreach { case (later, count, disorder) =>
          now += later
          on.foreach(_.observe(now, rows(count, disorder)))
        }
      val whole = Saved.by(history.save(_, whole = true))
      val changes = before.grouped(3).toSeq.map { batches =>
        play(Seq(history), batches)
        Saved.by(history.save(_, whole = false))
      }
      val restored = newHistory(memory = 20)
      (whole +: changes).foreach(_.into(restored.restore))
      play(Seq(history, restored), after)
      val saved = Seq(history, restored).map(one => Saved.by(one.save(_, whole = true)))
      assert(saved.distinct.length == 1)
    }
  }
}
