package io.eventtide.spark.query.history

import java.sql.Timestamp
import java.time.temporal.ChronoUnit
import java.time.{Instant, LocalDateTime, ZoneOffset}

import scala.util.Try

import org.apache.spark.sql.Row

import io.eventtide.spark.options.OptionReader

/** A question about the windows of a query: `window` is the position of the window from 0. Times are
  * in microseconds.
  */
private[spark] sealed trait WhyQuestion {
  def window: Int
}

private[spark] object WhyQuestion {

  /** Why is the window from `start` to `end` open, or when did it close? */
  final case class OfWindow(window: Int, start: Long, end: Long) extends WhyQuestion

  /** Why is a row in the late log?
    *
    * @param reason
    *   its reason in the log
    * @param watermark
    *   the watermark that it was compared with
    * @param key
    *   the key of its window
    */
  final case class OfLateRow(
      window: Int,
      reason: String,
      batchId: Long,
      eventTime: Long,
      watermark: Long,
      substream: Option[String],
      key: Option[String]
  ) extends WhyQuestion

  /** Reads a question: `window`, and either `start` and `end`, or `reason`, `batch`, `event_time`,
    * `watermark` and perhaps `substream` and `key`.
    */
  def read(values: Map[String, String]): WhyQuestion = {
    val options = new OptionReader(values)
    def number(name: String): Long = {
      val text = options.required(name, "a whole number")
      Try(text.toLong).getOrElse(OptionReader.unknown(name, text, "whole numbers"))
    }
    val window = options.count("window", 0).getOrElse(0)
    val question = options.get("reason") match {
      case None => OfWindow(window, number("start"), number("end"))
      case Some(reason) =>
        OfLateRow(
          window,
          reason,
          number("batch"),
          number("event_time"),
          number("watermark"),
          options.get("substream"),
          options.get("key")
        )
    }
    options.refuseUnread()
    question
  }

  /** The question about a row of a late log. */
  def of(row: Row, window: Int): OfLateRow = {
    val isLate = Try(row.fieldIndex("_reason")).isSuccess
    if (!isLate) OptionReader.unknown("row", String.valueOf(row), "rows of a late log")
    ofLate(row, window)
  }

  private def ofLate(row: Row, window: Int) = OfLateRow(
    window,
    row.getAs[String]("_reason"),
    row.getAs[Long]("_batch_id"),
    micros(row.getAs[Any]("_event_time")),
    micros(row.getAs[Any]("_watermark")),
    Option(row.getAs[String]("_substream")),
    Option(row.getAs[String]("_key"))
  )

  /** A time of a row in microseconds; 0 if it is unknown. */
  private def micros(time: Any): Long = time match {
    case time: Timestamp => since(time.toInstant)
    case time: LocalDateTime => since(time.toInstant(ZoneOffset.UTC))
    case time: Instant => since(time)
    case _ => 0L
  }

  private[spark] def since(time: Instant): Long =
    Try(ChronoUnit.MICROS.between(Instant.EPOCH, time)).getOrElse {
      OptionReader.unknown("window", String.valueOf(time), "times that Spark can represent")
    }
}
