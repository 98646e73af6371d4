package io.eventtide.spark

import org.apache.spark.sql.{Column, DataFrame, classic}

import io.eventtide.spark.planning.{EventtideRequest, RequestBuilder}

/** Requests a window, as each API does. */
object RequestedWindow {

  /** @param eventTime
    *   null for the column that has the watermark
    */
  def apply(
      rows: DataFrame,
      eventTime: String,
      watermark: Map[String, String],
      keys: Seq[Column],
      aggregates: Seq[Column],
      options: Map[String, String]
  ): DataFrame = {
    val others = options ++ Option(eventTime).map("event_time" -> _)
    val all = RequestBuilder.options("window", others, watermark)
    EventtideRequest.over(
      rows.asInstanceOf[classic.DataFrame],
      all,
      Map("keys" -> keys, "aggregates" -> aggregates)
    )
  }
}
