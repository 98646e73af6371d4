package io.eventtide.engines

import org.scalatest.funsuite.AnyFunSuite

class WorkloadSuite extends AnyFunSuite {
  private val spec =
    Spec("none", size = 10, slide = 1, keys = 1000, rate = 500000, events = 8000000, 0, 1)

  test("windows that end at most 5 s after the start have the checksum of benchmarks/workload.py") {
    val answers = new Answers(spec)
    (-1 to 5).foreach(addWindow(_, answers))
    assert(answers.byEnd.map(_._2).sum == 7000)
    assert(answers.byEnd.map(_._3).sum == 0xd8dde6d00b5L)
  }

  test("the sources share the events out, each once") {
    val made =
      for (source <- 0 until Workload.Sources; n <- 0L until 4L * Workload.Block)
        yield Workload.index(n, source)
    assert(made.sorted == (0L until 4L * Workload.Block * Workload.Sources))
  }

  /** The window that ends at a second after the start, in the plainest way. */
  private def addWindow(second: Int, answers: Answers): Unit = {
    val end = Workload.Start + second * 1000L
    val counts = new Array[Long](spec.keys)
    val sums, most = new Array[Double](spec.keys)
    for (index <- 0L until (second + 2) * spec.rate) {
      val hash = Workload.hash(index)
      if (Workload.time(index, hash, spec.perMilli) < end) {
        val key = Workload.key(index, spec.keys)
        counts(key) += 1
        sums(key) += Workload.value(hash)
        most(key) = Math.max(most(key), Workload.value(hash))
      }
    }
    for (key <- counts.indices if counts(key) > 0)
      answers.add(end, key, counts(key), sums(key), most(key))
  }
}
