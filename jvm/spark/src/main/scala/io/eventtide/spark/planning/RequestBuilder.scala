package io.eventtide.spark.planning

import java.util.UUID

import scala.util.Try

import org.apache.spark.sql.Column
import org.apache.spark.sql.classic.DataFrame

import io.eventtide.spark.options.OptionReader

/** Builds what a request names.
  *
  * {{{
  *   request=with_watermark       event_time=ts, watermark.policy=with_fixed_lag, watermark.lag=PT5S
  *                                columns: substream
  *   request=with_ingestion_time  into=column, watermark.policy=with_ingestion_time
  *   request=window               event_time=ts, watermark.*, and the options of WindowCodec
  *                                columns: substream, keys, aggregates, when, gap, scope
  *   request=lab                  event_time=ts, and the options of LabBuilder
  *                                columns: substream, keys
  *   id=UUID                      the identity of its nodes, however often the plan is analyzed
  * }}}
  */
private[spark] object RequestBuilder {
  val Requests: Seq[String] = Seq("with_watermark", "with_ingestion_time", "window", "lab")
  private val Prefix = "watermark."

  /** The options of a request by its name, with the options of a watermark among them, and a new
    * identity.
    */
  def options(
      request: String,
      others: Map[String, String],
      watermark: Map[String, String]
  ): Map[String, String] =
    others ++ watermark.map { case (name, value) => s"$Prefix$name" -> value } +
      ("request" -> request) + ("id" -> UUID.randomUUID().toString)

  def build(
      rows: DataFrame,
      options: Map[String, String],
      columns: Map[String, Seq[Column]]
  ): DataFrame = {
    val lists = RequestColumns.read(columns)
    val (prefixed, others) = options.partition { case (name, _) => name.startsWith(Prefix) }
    val watermark = prefixed.map { case (name, value) => name.drop(Prefix.length) -> value }
    val reader = new OptionReader(others)
    val id = nodeId(reader)
    reader.required("request", Requests.mkString(", ")) match {
      case "with_watermark" =>
        val eventTime = reader.required("event_time", "a column name")
        reader.refuseUnread()
        WatermarkBuilder.withWatermark(rows, id, eventTime, lists.substream, watermark)
      case "with_ingestion_time" =>
        val into = reader.required("into", "a name for the new column")
        reader.refuseUnread()
        WatermarkBuilder.withIngestionTime(rows, id, into, watermark)
      case "window" =>
        val eventTime = reader.get("event_time")
        val policy = Option.when(watermark.nonEmpty)(watermark)
        WindowBuilder.window(rows, id, eventTime, policy, lists, reader.unread)
      case "lab" => LabBuilder.lab(rows, lists, reader)
      case other => OptionReader.unknown("request", other, Requests.mkString(", "))
    }
  }

  private def nodeId(reader: OptionReader): UUID =
    reader.get("id").fold(UUID.randomUUID()) { text =>
      Try(UUID.fromString(text)).getOrElse(OptionReader.unknown("id", text, "a UUID"))
    }
}
