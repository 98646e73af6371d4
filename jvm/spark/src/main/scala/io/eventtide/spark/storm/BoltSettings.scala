package io.eventtide.spark.storm

import java.time.Duration
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.internal.Logging
import org.apache.spark.sql.Column

import io.eventtide.spark.options.WindowConflicts.refuse
import io.eventtide.spark.options.{DurationText, SettingText}
import io.eventtide.spark.planning.EventTimeExtractor

/** The first part of the builder of a bolt: window sizes, time, late rows and memory. */
private[storm] trait BoltSettings extends Logging {
  protected def bolt: Bolt

  private[storm] def changed(change: Bolt => Bolt): StormWindow

  /** Windows of the last `length` of time, one after each row. */
  def withWindow(length: String): StormWindow = sized(Extent("length", length), OneRow)

  /** As with text. */
  def withWindow(length: Duration): StormWindow = sized(Extent("length", length), OneRow)

  /** Windows of the last `length` rows, one after each row. */
  def withWindow(length: Count): StormWindow = sized(Extent(length), OneRow)

  /** Windows of the last `length` of time, one at each multiple of `slide`. A slide longer than the
    * length is allowed with a warning: rows between two windows are then in no window.
    */
  def withWindow(length: String, slide: String): StormWindow =
    sized(Extent("length", length), Extent("slide", slide))

  /** As with text. */
  def withWindow(length: Duration, slide: Duration): StormWindow =
    sized(Extent("length", length), Extent("slide", slide))

  /** Windows of the last `length` rows, one at each multiple of `slide` in time. */
  def withWindow(length: Count, slide: String): StormWindow =
    sized(Extent(length), Extent("slide", slide))

  /** As with text. */
  def withWindow(length: Count, slide: Duration): StormWindow =
    sized(Extent(length), Extent("slide", slide))

  /** Windows of the last `length` of time, one after each `slide` rows. */
  def withWindow(length: String, slide: Count): StormWindow =
    sized(Extent("length", length), Extent(slide))

  /** As with text. */
  def withWindow(length: Duration, slide: Count): StormWindow =
    sized(Extent("length", length), Extent(slide))

  /** Windows of the last `length` rows, one after each `slide` rows. */
  def withWindow(length: Count, slide: Count): StormWindow = sized(Extent(length), Extent(slide))

  /** Adjacent windows, whose slide is equal to their length. */
  def withTumblingWindow(length: String): StormWindow = adjacent(Extent("length", length))

  /** As with text. */
  def withTumblingWindow(length: Duration): StormWindow = adjacent(Extent("length", length))

  /** As with text. */
  def withTumblingWindow(length: Count): StormWindow = adjacent(Extent(length))

  /** Sets the event-time column: a TIMESTAMP, or a BIGINT of milliseconds since 1970, whose time is
    * added to the rows as a column `_extracted_event_time`.
    */
  def withTimestampField(field: String): StormWindow =
    timed("timestamp_field", Map(BoltStreams.All -> EventTimeExtractor.OfText(field)))

  /** As above, with the column of each stream. */
  def withTimestampField(fields: Map[String, String]): StormWindow =
    timed(
      "timestamp_field",
      fields.map { case (name, field) => name -> EventTimeExtractor.OfText(field) }
    )

  /** As above, for Java. */
  def withTimestampField(fields: JMap[String, String]): StormWindow =
    withTimestampField(fields.asScala.toMap)

  /** Sets the expression of the event time of a row, in place of Storm's function. */
  def withTimestampExtractor(extractor: Column): StormWindow =
    timed("timestamp_extractor", Map(BoltStreams.All -> EventTimeExtractor.OfColumn(extractor)))

  /** As above, as SQL text. */
  def withTimestampExtractor(extractor: String): StormWindow =
    timed("timestamp_extractor", Map(BoltStreams.All -> EventTimeExtractor.OfText(extractor)))

  /** As above, with the expression of each stream. */
  def withTimestampExtractor(extractors: Map[String, Column]): StormWindow = timed(
    "timestamp_extractor",
    extractors.map { case (name, extractor) => name -> EventTimeExtractor.OfColumn(extractor) }
  )

  /** Sets the allowed lag behind the latest row of a stream; by default zero. */
  def withLag(lag: String): StormWindow = {
    val iso = DurationText.toIso("lag", lag)
    changed(_.copy(lag = Some(iso)))
  }

  /** As with text. */
  def withLag(lag: Duration): StormWindow = withLag(SettingText.text(lag))

  /** Sets the interval of processing time at which the watermark is emitted; by default a second. */
  def withWatermarkInterval(interval: String): StormWindow = {
    val iso = DurationText.iso(DurationText.frame("watermark_interval", interval))
    changed(_.copy(watermarkInterval = Some(iso)))
  }

  /** As with text. */
  def withWatermarkInterval(interval: Duration): StormWindow =
    withWatermarkInterval(SettingText.text(interval))

  /** Declares a stream of the late rows; `stream` reads it. */
  def withLateTupleStream(streamId: String): StormWindow = {
    SettingText.window("late_to", streamId): Unit // not empty
    changed(_.copy(lateTupleStream = Some(streamId)))
  }

  /** Sets the maximum number of rows of a key in memory; by default one million. */
  def withMaxEventsInMemory(most: Int): StormWindow = {
    SettingText.rows("rows_in_memory", most): Unit
    changed(_.copy(maxEventsInMemory = Some(most)))
  }

  /** Sets the action for late rows: `log` (the default), `count` or `fail`. */
  def withLate(action: String): StormWindow = set("late", action)

  /** Sets the folder of the late log, by default `late` in the checkpoint. */
  def withLateTo(path: String): StormWindow = set("late_to", path)

  private val OneRow = Extent(Count(1))

  private[storm] def set(option: String, text: String): StormWindow = {
    val value = SettingText.window(option, text)
    changed(bolt => bolt.copy(options = bolt.options + (option -> value)))
  }

  private[storm] def sized(length: Extent, slide: Extent): StormWindow = {
    if (length.isBelow(slide))
      logWarning(s"slide $slide is longer than length $length: rows between two windows are lost")
    changed(_.copy(length = Some(length), slide = Some(slide)))
  }

  private def adjacent(length: Extent): StormWindow =
    changed(_.copy(length = Some(length), slide = Some(length)))

  private def timed(option: String, each: Map[String, EventTimeExtractor]): StormWindow = {
    bolt.timestamp.foreach { known =>
      val problem = s"cannot be added: ${known.option} is already set"
      refuse(option, each.keys.mkString(", "), problem, "one for a bolt", "Remove one")
    }
    changed(_.copy(timestamp = Some(BoltTimestamp(option, each))))
  }
}
