package io.eventtide.spark.query

import java.time.Instant
import java.time.temporal.ChronoUnit
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode

/** What a query's watermark looked like after its last batch; times in microseconds. */
private[spark] final case class WatermarkReport(
    batchId: Long,
    clockMicros: Long,
    idealMicros: Option[Long],
    emittedMicros: Option[Long],
    holding: Boolean,
    inputs: Seq[InputReport]
) {

  /** For `et.progress`: the whole of it. */
  def json: String = {
    val node = WatermarkReport.mapper.createObjectNode()
    node.put("batchId", batchId).put("clock", clockMicros).put("holding", holding)
    WatermarkReport.putTime(node, "ideal", idealMicros)
    WatermarkReport.putTime(node, "emitted", emittedMicros)
    node.put("badTime", inputs.map(_.badTime).sum).put("future", inputs.map(_.future).sum)
    val array = node.putArray("inputs")
    inputs.foreach(input => input.write(array.addObject()))
    node.toString
  }

  /** For Spark's progress JSON, where every value is text: the numbers, and the worst laggards. */
  def metrics: JMap[String, String] = {
    val laggards =
      inputs.flatMap(_.laggards(WatermarkReport.Laggards)).take(WatermarkReport.Laggards)
    val whole = Seq(
      "emittedWatermark" -> WatermarkReport.text(emittedMicros),
      "idealWatermark" -> WatermarkReport.text(idealMicros),
      "substreams" -> inputs.map(_.substreams.length).sum.toString,
      "substreamsIdle" -> inputs.map(_.substreams.count(_.state == "idle")).sum.toString,
      "rowsBadTime" -> inputs.map(_.badTime).sum.toString,
      "rowsFuture" -> inputs.map(_.future).sum.toString,
      "holding" -> holding.toString
    )
    val each = laggards.map(one => s"substream.${one.name}" -> one.text)
    (whole ++ each).toMap.asJava
  }
}

/** One input of a query: the substreams under one watermark node. */
private[spark] final case class InputReport(
    position: Int,
    policy: String,
    state: String,
    idealMicros: Option[Long],
    emittedMicros: Option[Long],
    badTime: Long,
    future: Long,
    substreams: Seq[SubstreamLine]
) {

  def laggards(most: Int): Seq[SubstreamLine] =
    substreams.sortBy(_.watermarkMicros.getOrElse(Long.MinValue)).take(most)

  def write(node: ObjectNode): Unit = {
    node.put("position", position).put("policy", policy).put("state", state)
    node.put("badTime", badTime).put("future", future)
    WatermarkReport.putTime(node, "ideal", idealMicros)
    WatermarkReport.putTime(node, "emitted", emittedMicros)
    val array = node.putArray("substreams")
    substreams.foreach(_.write(array.addObject()))
  }
}

/** One substream: `rows` in the last batch, `rowsTotal` since the checkpoint began. */
private[spark] final case class SubstreamLine(
    name: String,
    topMicros: Option[Long],
    watermarkMicros: Option[Long],
    state: String,
    reason: String,
    sinceMicros: Long,
    rows: Long,
    rowsTotal: Long
) {

  def write(node: ObjectNode): Unit = {
    node.put("name", name).put("state", state).put("reason", reason).put("since", sinceMicros)
    node.put("rows", rows).put("rowsTotal", rowsTotal)
    WatermarkReport.putTime(node, "top", topMicros)
    WatermarkReport.putTime(node, "watermark", watermarkMicros)
  }

  def text: String =
    s"top ${WatermarkReport.text(topMicros)}, watermark ${WatermarkReport.text(watermarkMicros)}, " +
      s"$state ($reason) since ${WatermarkReport.text(Some(sinceMicros))}, $rows rows"
}

private[spark] object WatermarkReport {
  private val mapper = new ObjectMapper()
  private val Laggards = 20

  private[query] def putTime(node: ObjectNode, field: String, micros: Option[Long]): Unit =
    micros.fold(node.putNull(field))(node.put(field, _))

  private[query] def text(micros: Option[Long]): String =
    micros.fold("none")(Instant.EPOCH.plus(_, ChronoUnit.MICROS).toString)
}
