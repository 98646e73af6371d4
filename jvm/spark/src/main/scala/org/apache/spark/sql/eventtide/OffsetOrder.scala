package org.apache.spark.sql.eventtide

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Compares offsets of sources, as far as their JSON shows an order. */
private[eventtide] object OffsetOrder {
  private val json = new ObjectMapper

  /** Whether the source has been read up to `latest` or further: equal offsets, or numbers that have
    * been reached, also in nested objects, such as `{"topic":{"0":23}}` of Kafka.
    */
  def hasReached(end: String, latest: String): Boolean =
    end == latest || Try(hasReached(json.readTree(end), json.readTree(latest))).getOrElse(false)

  private def hasReached(end: JsonNode, latest: JsonNode): Boolean =
    if (latest.isObject) latest.properties.asScala.forall { one =>
      end.has(one.getKey) && hasReached(end.get(one.getKey), one.getValue)
    }
    else if (latest.isNumber && end.isNumber) end.decimalValue.compareTo(latest.decimalValue) >= 0
    else end == latest
}
