package io.eventtide.kernel.disorder

import org.scalatest.funsuite.AnyFunSuite

final class DriftSuite extends AnyFunSuite {

  /** A thousand rows, of which some parts have a disorder. */
  private def rows(parts: (Int, Long)*): DisorderHistogram = {
    val all = new DisorderHistogram
    for ((count, disorder) <- parts; _ <- 1 to count) all.add(disorder)
    while (all.rows < 1000) all.add(0)
    all
  }

  test("without a change there is no drift") {
    val usual = rows(200 -> 50, 20 -> 900)
    assert(Drift.of(usual, usual, least = 1).isEmpty)
    assert(Drift.of(rows(200 -> 60, 20 -> 900), usual, least = 1).isEmpty)
  }

  test("the largest change is reported, up or down") {
    val usual = rows(200 -> 50, 20 -> 900)
    val slower = rows(200 -> 120, 20 -> 9000)
    assert(Drift.of(slower, usual, least = 1).contains(Drift(0.01, 9000, 900)))
    assert(Drift.of(slower, usual, least = 1).get.factor == 10)
    assert(Drift.of(usual, slower, least = 1).map(_.factor).contains(0.1))
  }

  test("disorder that comes, or goes, is a drift") {
    assert(Drift.of(rows(200 -> 5000), rows(), least = 1).contains(Drift(0.1, 5000, 0)))
    assert(Drift.of(rows(), rows(200 -> 5000), least = 1).contains(Drift(0.1, 0, 5000)))
  }

  test("a change below the least lag does not matter") {
    assert(Drift.of(rows(200 -> 500), rows(200 -> 5), least = 1000).isEmpty)
  }

  test("few rows say nothing about a share") {
    val few = new DisorderHistogram
    (1 to 99).foreach(_ => few.add(1000))
    assert(Drift.of(few, rows(200 -> 5), least = 1).isEmpty)
    assert(Drift.of(rows(200 -> 5), few, least = 1).isEmpty)
  }
}
