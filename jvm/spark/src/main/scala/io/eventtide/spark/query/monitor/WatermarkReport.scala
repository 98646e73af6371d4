package io.eventtide.spark.query.monitor

import java.time.Instant
import java.time.temporal.ChronoUnit
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode

import io.eventtide.spark.checkpoint.SavedClock
import io.eventtide.spark.latelog.LateCounts

/** The state of a query's watermark after its last batch. Times are in microseconds.
  *
  * The report is a snapshot: the caller formats it while the query continues.
  */
private[spark] final case class WatermarkReport(
    batchId: Long,
    clockMicros: Long,
    idealMicros: Option[Long],
    emittedMicros: Option[Long],
    isHolding: Boolean,
    counts: LateCounts,
    inputs: Seq[InputReport],
    clock: SavedClock = SavedClock.None,
    outlook: Outlook = Outlook.None
) {

  /** The full report as JSON, for `et.progress`. */
  def json: String = {
    val node = WatermarkReport.mapper.createObjectNode()
    node.put("batchId", batchId).put("clock", clockMicros).put("holding", isHolding)
    WatermarkReport.putTime(node, "ideal", idealMicros)
    WatermarkReport.putTime(node, "emitted", emittedMicros)
    node.put("badTime", inputs.map(_.badTime).sum).put("future", inputs.map(_.future).sum)
    node.put("onTime", counts.onTime)
    node.put("clockSteps", clock.steps).put("clockCorrectedBy", clock.aheadMicros)
    val late = node.putObject("late")
    counts.late.foreachEntry((reason, rows) => late.put(reason, rows))
    val array = node.putArray("inputs")
    inputs.foreach(input => input.write(array.addObject()))
    node.toString
  }

  /** A description of the cause of the watermark's delay. */
  def blame: String = WatermarkDiagnosis.of(this)

  /** The metrics for Spark's progress JSON, where every value is text, with the substreams furthest
    * behind.
    */
  def metrics: JMap[String, String] = {
    val laggards = inputs
      .flatMap(input => input.laggards(WatermarkReport.Laggards).map(nameIn(input) -> _))
      .sortBy { case (_, line) => line.watermarkMicros.getOrElse(Long.MinValue) }
      .take(WatermarkReport.Laggards)
    val whole = Seq(
      "emittedWatermark" -> WatermarkReport.text(emittedMicros),
      "idealWatermark" -> WatermarkReport.text(idealMicros),
      "substreams" -> inputs.map(_.count).sum.toString,
      "substreamsIdle" -> inputs.map(_.idle).sum.toString,
      "rowsBadTime" -> inputs.map(_.badTime).sum.toString,
      "rowsFuture" -> inputs.map(_.future).sum.toString,
      "holding" -> isHolding.toString
    )
    val late = counts.late.map { case (reason, rows) => s"rowsLate.$reason" -> rows.toString }
    val each = laggards.map { case (prefix, line) => s"$prefix${line.name}" -> line.text }
    (whole ++ late ++ each).toMap.asJava
  }

  private def nameIn(input: InputReport): String =
    if (inputs.length == 1) "substream." else s"input${input.position}.substream."
}

private[spark] object WatermarkReport {

  def beforeFirstBatch(clockMicros: Long): WatermarkReport =
    WatermarkReport(-1, clockMicros, None, None, isHolding = false, LateCounts.None, Nil)

  private val mapper = new ObjectMapper()
  private val Laggards = 20

  private[query] def putTime(node: ObjectNode, field: String, micros: Option[Long]): Unit =
    micros.fold(node.putNull(field))(node.put(field, _))

  private[query] def text(micros: Option[Long]): String =
    micros.fold("none")(Instant.EPOCH.plus(_, ChronoUnit.MICROS).toString)
}
