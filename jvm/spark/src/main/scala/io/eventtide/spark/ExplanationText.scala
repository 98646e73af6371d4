package io.eventtide.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Formats an explanation of a plan as text, as Python does; tests/border/explain.json is an example.
  */
private[spark] object ExplanationText {
  private val mapper = new ObjectMapper()
  private val StockSpark = "stock Spark: largest event time anywhere minus one fixed delay"

  def apply(json: String): String = {
    val tree = mapper.readTree(json)
    val watermarks = tree.get("watermarks").elements.asScala.toSeq.flatMap(watermark)
    val none = Option.when(watermarks.isEmpty)("no eventtide watermark in this plan")
    val windows = tree.get("windows").elements.asScala.toSeq.flatMap(window)
    val notes = tree.get("notes").elements.asScala.map(note => s"note: ${note.asText}")
    (watermarks ++ none ++ windows ++ Seq(StockSpark) ++ notes).mkString("\n")
  }

  private def watermark(node: JsonNode): Seq[String] = {
    val name = if (node.get("name").isNull) "" else s" ${text(node, "name")}"
    val policy = node.get("policy").elements.asScala.map(line => s"   ${line.asText}")
    s"watermark$name on ${text(node, "eventTime")}" +:
      (policy.toSeq ++ Seq(
        s"   substreams: ${text(node, "substreams")} (${text(node, "why")})",
        s"   idle: ${text(node, "idle")}",
        s"   clock: ${text(node, "clock")}"
      ))
  }

  private def window(node: JsonNode): Seq[String] = Seq(
    s"window ${text(node, "kind")}",
    s"   bounds: ${text(node, "bounds")}, delay: ${text(node, "delay")}",
    s"   results: ${text(node, "results")}",
    s"   combining: ${text(node, "combining")}",
    s"   late rows: by ${text(node, "lateRule")}, ${text(node, "lateRows")}"
  )

  private def text(node: JsonNode, field: String): String = node.get(field).asText
}
