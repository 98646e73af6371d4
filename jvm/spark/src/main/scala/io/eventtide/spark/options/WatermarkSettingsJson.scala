package io.eventtide.spark.options

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/** The JSON form of a watermark in the ledger: its options and the description of its substream
  * key. It makes a checkpoint readable without its query.
  */
private[spark] object WatermarkSettingsJson {
  private val mapper = new ObjectMapper()

  def write(settings: WatermarkSettings): String = {
    val node = mapper.createObjectNode()
    node.put("substreams", settings.substreams.text).put("why", settings.substreams.origin)
    val options = node.putObject("options")
    WatermarkOptionsCodec.write(settings).toSeq.sorted.foreach { case (key, value) =>
      options.put(key, value)
    }
    node.toString
  }

  def read(text: String): WatermarkSettings = {
    val node = mapper.readTree(text)
    val label =
      SubstreamDescription(node.required("substreams").asText, node.required("why").asText)
    val options = node.required("options").properties.asScala
    WatermarkOptionsCodec.watermark(
      options.map(one => one.getKey -> one.getValue.asText).toMap,
      label
    )
  }
}
