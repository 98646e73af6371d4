package io.eventtide.spark

import java.io.File

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** The files in tests/border, which Python's tests read too. */
object BorderFiles {

  def cases(name: String): Seq[JsonNode] = read(name).elements.asScala.toSeq

  def read(name: String): JsonNode =
    new ObjectMapper().readTree(new File(sys.props("eventtide.root"), s"tests/border/$name"))

  def texts(node: JsonNode): Map[String, String] =
    node.properties.asScala.map(entry => entry.getKey -> entry.getValue.asText).toMap
}
