package io.eventtide.spark.query.history

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.watermark.{Activity, SubstreamReport, SubstreamSummary, WatermarkStatus}
import io.eventtide.spark.latelog.LateCounts
import io.eventtide.spark.options.{SubstreamDescription, WatermarkOptionsCodec}
import io.eventtide.spark.query.monitor.{InputReport, SubstreamLimit, WatermarkReport}
import io.eventtide.spark.spi.BatchEventTimeStats

class WatermarkMoveSuite extends AnyFunSuite {
  private val Noon = 1767268800000000L // 2026-01-01 12:00:00 UTC

  private val settings = WatermarkOptionsCodec.watermark(
    Map("policy" -> "with_fixed_lag", "lag" -> "PT0S"),
    SubstreamDescription.named("name")
  )

  private def input(position: Int, status: WatermarkStatus, tops: Long*): InputReport = {
    val lines = tops.map { top =>
      new SubstreamReport("a", Some(top), Some(top), 1, Activity.Active, Noon)
    }
    InputReport(
      position,
      settings,
      status,
      tops.minOption,
      tops.minOption,
      0,
      0,
      new SubstreamSummary(lines.size, idle = 0, spread = None, lines),
      BatchEventTimeStats.Empty,
      SubstreamLimit(lines.size, most = 100000, reachedInMicros = None)
    )
  }

  private def report(batchId: Long, emitted: Option[Long], inputs: InputReport*) =
    WatermarkReport(batchId, 0, emitted, emitted, isHolding = false, LateCounts.None, inputs)

  test("the first rows of an input move a watermark that the other input alone did not have") {
    val before = report(
      6,
      None,
      input(0, WatermarkStatus.Value, Noon),
      input(1, WatermarkStatus.Unknown)
    )
    val after = report(
      7,
      Some(Noon),
      input(0, WatermarkStatus.Value, Noon),
      input(1, WatermarkStatus.Value, Noon)
    )
    assert(
      WatermarkMove(before, after, Noon).text ==
        "Batch 7 moved the watermark to 2026-01-01 12:00:00 UTC: it had the first rows of input 1."
    )
  }
}
