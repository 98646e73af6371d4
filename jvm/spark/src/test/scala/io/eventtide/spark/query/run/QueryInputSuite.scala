package io.eventtide.spark.query.run

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.watermark.{Backlog, EventTimeStats}
import io.eventtide.spark.options.{SubstreamDescription, WatermarkOptionsCodec}
import io.eventtide.spark.spi.BatchEventTimeStats

final class QueryInputSuite extends AnyFunSuite {
  private val FixedLag = Map("policy" -> "with_fixed_lag", "lag" -> "PT0S")

  private def begun(options: (String, String)*): QueryInput = {
    val settings = WatermarkOptionsCodec.watermark(FixedLag ++ options, SubstreamDescription.Kafka)
    val input = new QueryInput(new UUID(0, 0), settings, curveRows = None)
    input.begin(0)
    input
  }

  /** One row of each, by its time in milliseconds. */
  private def rows(times: (String, Long)*): BatchEventTimeStats = {
    val seen = times.map { case (name, ms) =>
      val of = new EventTimeStats
      of.add(ms * 1000)
      name -> of
    }
    BatchEventTimeStats(seen.toMap, badTime = 0, future = 0)
  }

  test(
    "a partition that is gone is not waited for, also when a batch has rows of it all the same"
  ) {
    val input = begun()
    input.updateBacklogs(0, Map("t/0" -> Backlog.Empty))
    input.observe(1, rows("t/0" -> 70, "gone/0" -> 20), credited = true)
    assert(input.emitted.contains(20000L))
    input.retainPartitions(1, Set("t/0"))
    input.observe(2, rows("t/0" -> 90), credited = true)
    assert(input.emitted.contains(90000L))
  }

  test("one that is expected by its name is waited for, though there is none yet") {
    val input = begun("expected.0" -> "t/0", "expected.1" -> "t/1")
    input.updateBacklogs(0, Map("t/0" -> Backlog.Empty))
    input.observe(1, rows("t/0" -> 70), credited = true)
    input.retainPartitions(1, Set("t/0"))
    assert(input.emitted.isEmpty)
  }

  test("as many as are expected are waited for, though there are fewer yet") {
    val input = begun("expected" -> "2")
    input.updateBacklogs(0, Map("t/0" -> Backlog.Empty))
    input.observe(1, rows("t/0" -> 70), credited = true)
    input.retainPartitions(1, Set("t/0"))
    assert(input.emitted.isEmpty)
  }

  test("when all partitions are gone nobody is waited for, until there is one again") {
    val input = begun()
    input.updateBacklogs(0, Map("a/0" -> Backlog.Empty, "b/0" -> Backlog.Pending))
    input.observe(1, rows("a/0" -> 70, "b/0" -> 20), credited = true)
    input.retainPartitions(1, Set.empty)
    assert(input.isIdle && input.emitted.contains(20000L)) // they may only be hidden
    assert(input.at(3).isIdle && input.deadline(30000) == ((None, Some(Long.MinValue))))
    input.updateBacklogs(2, Map("c/0" -> Backlog.Pending))
    input.observe(2, rows("c/0" -> 30), credited = true)
    input.retainPartitions(2, Set("c/0"))
    assert(!input.isIdle && input.emitted.contains(30000L))
  }

  test("partitions of a batch that is run again are waited for, whatever else is known") {
    val input = begun()
    input.assumeBacklogs(1, Map("t/0" -> Backlog.Pending, "t/1" -> Backlog.Pending))
    input.observe(1, rows("t/0" -> 45), credited = true)
    assert(input.emitted.isEmpty)
  }

  test("a partition that is taken out after rows lets no other beyond them") {
    val settings =
      WatermarkOptionsCodec.watermark(
        Map("policy" -> "limiting_real_time_lag", "lag" -> "PT0S"),
        SubstreamDescription.Kafka
      )
    val input = new QueryInput(new UUID(0, 0), settings, curveRows = None)
    input.begin(0)
    val batch = rows("t/0" -> 70, "gone/0" -> 20)
    input.observe(100000, batch, credited = true)
    input.retainPartitions(100000, Set("t/0"), batch)
    assert(input.emitted.contains(70000L))
  }

  test("when nobody can say what is left, all wait until somebody can, and none is deserted") {
    val input = begun("substream_idle_timeout" -> "PT10S")
    val known = Map("a/0" -> Backlog.Empty)
    input.updateBacklogs(0, known)
    input.observe(1, rows("a/0" -> 70), credited = true)
    input.retainPartitions(1, Set.empty)
    input.assumeBacklogs(20000000, known.map(_._1 -> Backlog.Pending))
    input.observe(20000000, BatchEventTimeStats.Empty, credited = true)
    assert(!input.isIdle)
    input.updateBacklogs(20000000, known)
    assert(input.isIdle)
  }

  test("an input that has never had a partition is waited for") {
    val input = begun()
    input.retainPartitions(1, Set.empty)
    assert(!input.isIdle)
  }
}
