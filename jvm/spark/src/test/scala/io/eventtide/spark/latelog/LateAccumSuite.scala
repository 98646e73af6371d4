package io.eventtide.spark.latelog

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.disorder.DisorderHistogram

class LateAccumSuite extends AnyFunSuite {

  private def report(
      partition: Int,
      rows: Long,
      file: String,
      stage: Int = 0
  ): (Int, LateReport) = {
    val written = Some(LateFileInfo(file, 10))
    partition -> LateReport(
      stage,
      written,
      Map(LateReason.FrameClosed -> rows),
      onTime = 0,
      lowest = Long.MaxValue,
      lateBy = new DisorderHistogram,
      disorder = None,
      frames = None
    )
  }

  private def task(report: (Int, LateReport)): LateAccum = {
    val accumulator = new LateAccum
    accumulator.add(report)
    accumulator
  }

  private def driver(reports: (Int, LateReport)*): Set[String] = {
    val accumulator = new LateAccum
    reports.map(task).foreach(accumulator.merge)
    accumulator.value.values.flatMap(_.file).map(_.name).toSet
  }

  test("partitions add up, and of one partition the last attempt counts") {
    assert(driver(report(0, 2, "a"), report(1, 1, "b"), report(0, 2, "c")) == Set("b", "c"))
  }

  test("a stage that is run again counts, also where it has fewer rows in a partition") {
    assert(
      driver(report(0, 2, "a"), report(1, 1, "b"), report(0, 1, "c"), report(1, 2, "d")) ==
        Set("c", "d")
    )
  }

  test("another stage that read only the beginning does not count") {
    val (all, some) = (report(0, 2, "all", stage = 1), report(0, 1, "some", stage = 2))
    assert(driver(all, some) == Set("all") && driver(some, all) == Set("all"))
    assert(driver(all, report(0, 2, "again", stage = 2)) == Set("again"))
  }

  test("it is zero until there is a report, and copies are its own") {
    val full = task(report(0, 1, "a"))
    assert(new LateAccum().isZero && !full.isZero && full.copyAndReset().isZero)
    full.copy().reset()
    assert(!full.isZero)
  }

  test("a report survives serialisation") {
    val bytes = new ByteArrayOutputStream
    val sent = report(3, 4, "a")
    (1L to 4L).foreach(sent._2.lateBy.add)
    new ObjectOutputStream(bytes).writeObject(sent)
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
    val received = in.readObject().asInstanceOf[(Int, LateReport)]
    assert(received._2.copy(lateBy = sent._2.lateBy) == sent._2 && received._1 == 3)
    assert(received._2.lateBy.rows == 4 && received._2.lateBy.longest == 4)
  }
}
