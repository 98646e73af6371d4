package io.eventtide.spark

import org.apache.spark.sql.{Column, DataFrame, classic}

import io.eventtide.spark.planning.EventtideRequest

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
    val prefixed = watermark.map { case (option, value) => s"watermark.$option" -> value }
    val all = options ++ prefixed ++ Option(eventTime).map("event_time" -> _) +
      ("request" -> "window")
    EventtideRequest.over(
      rows.asInstanceOf[classic.DataFrame],
      all,
      Map("keys" -> keys, "aggregates" -> aggregates)
    )
  }
}
