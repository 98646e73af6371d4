package io.eventtide.spark.query.history

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import io.eventtide.spark.query.monitor.{BatchPoint, InputReport, WatermarkReport}

/** What a page shows about a query, as JSON: its last batches, and its substreams after the last
  * one. Times are in microseconds.
  */
private[query] object TimelineJson {
  private val mapper = new ObjectMapper()

  /** The late share for which a page shows the lag. */
  private val Share = 0.001

  /** @param last
    *   the report on the last batch
    * @param most
    *   the highest number of substreams of an input: those with the lowest watermarks
    */
  def of(
      title: String,
      points: Iterator[BatchPoint],
      last: Option[WatermarkReport],
      most: Int = Int.MaxValue
  ): ObjectNode = {
    val node = mapper.createObjectNode().put("title", title)
    node.put("blame", last.fold("No batch has ended yet.")(_.blame))
    val batches = node.putArray("batches")
    points.foreach(write(_, batches.addObject()))
    val inputs = node.putArray("inputs")
    last.foreach(writeInputs(_, inputs, most))
    val windows = node.putArray("windows")
    for (report <- last; window <- report.outlook.windows)
      window.write(windows.addObject(), report.clock.aheadMicros)
    node
  }

  private def write(point: BatchPoint, node: ObjectNode): Unit = {
    node.put("id", point.batchId).put("at", point.atMicros).put("onTime", point.onTime)
    WatermarkReport.putTime(node, "watermark", point.watermark)
    WatermarkReport.putTime(node, "leader", point.leader)
    val late = node.putObject("late")
    point.late.foreachEntry((reason, rows) => late.put(reason, rows))
  }

  private def writeInputs(report: WatermarkReport, array: ArrayNode, most: Int): Unit =
    report.inputs.foreach { input =>
      val node = array.addObject()
      input.write(node, most)
      WatermarkReport.putTime(node, "highest", input.highest)
      node.put("holder", input.holder.orNull)
      val lags = node.putObject("lags")
      // A learnt lag is in the state of the policy, not in its settings.
      if (input.settings.policy.lateTarget.isEmpty) lags.put("now", input.settings.policy.lag)
      lagFor(input).foreach(lags.put("for 0.1% late", _))
    }

  private def lagFor(input: InputReport): Option[Long] = input.disorder.map(_.lagFor(1 - Share))
}
