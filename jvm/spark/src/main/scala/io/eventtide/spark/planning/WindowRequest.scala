package io.eventtide.spark.planning

import org.apache.spark.sql.Column
import org.apache.spark.sql.classic.DataFrame

import io.eventtide.spark.options.{OptionReader, OriginText, SizeText, WindowConflicts}

/** The settings of a window as a builder collects them; values are checked, combinations are not.
  *
  * @param eventTime
  *   the event time column; None for the column that has a watermark
  * @param watermark
  *   the options of the window's own watermark, empty for a stream that has one
  * @param sizes
  *   the size and the slide or step, whose options depend on the time zone
  * @param options
  *   all other options
  * @param columns
  *   lists of columns, by name; see `RequestBuilder`
  */
private[spark] final case class WindowRequest(
    eventTime: Option[String] = None,
    watermark: Map[String, String] = Map.empty,
    usesProcessingTime: Boolean = false,
    sizes: Map[String, SizeText] = Map.empty,
    origin: Option[OriginText] = None,
    options: Map[String, String] = Map.empty,
    columns: Map[String, Seq[Column]] = Map.empty
) {

  /** The window with a kind, of which there is one. */
  def withKind(kind: String, more: Map[String, String]): WindowRequest = {
    options.get("kind").foreach { first =>
      val problem = s"cannot be combined with $first"
      WindowConflicts.refuse("kind", kind, problem, "one kind of window", "Remove one of the two")
    }
    copy(options = options ++ more + ("kind" -> kind))
  }

  def withOption(name: String, value: String): WindowRequest =
    copy(options = options + (name -> value))

  def withColumns(name: String, list: Seq[Column]): WindowRequest =
    copy(columns = columns + (name -> list))

  /** The options of the window, as every API writes them. */
  def toOptions: Map[String, String] = {
    val zone = options.get("time_zone")
    val lengths = sizes.map { case (name, size) => name -> size.toIso(zone.isDefined) }
    options ++ lengths ++ origin.map("origin" -> _.option(zone))
  }

  /** The results of the window over these rows. */
  def over(rows: DataFrame): DataFrame = {
    if (usesProcessingTime) eventTime.foreach { column =>
      val problem = "cannot be combined with processing_time"
      WindowConflicts.refuse("event_time", column, problem, "one of the two", "Remove one")
    }
    val timed = if (usesProcessingTime) withProcessingTime(rows) else rows
    val time = if (usesProcessingTime) Some(WindowBuilder.ProcessingTime) else eventTime
    val all = RequestBuilder.options("window", toOptions ++ time.map("event_time" -> _), watermark)
    EventtideRequest.over(timed, all, columns)
  }

  private def withProcessingTime(rows: DataFrame): DataFrame = {
    val into = Map("into" -> WindowBuilder.ProcessingTime)
    EventtideRequest.over(
      rows,
      RequestBuilder.options("with_ingestion_time", into, WindowRequest.IngestionTime),
      Map.empty
    )
  }
}

private[spark] object WindowRequest {
  private val IngestionTime = Map("policy" -> "with_ingestion_time")

  /** Refuses an empty list of columns. */
  def someOf(name: String, list: Seq[Column]): Seq[Column] = {
    if (list.isEmpty) OptionReader.missing(name, "one column or more")
    list
  }
}
