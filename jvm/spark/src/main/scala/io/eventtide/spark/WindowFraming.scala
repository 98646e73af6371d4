package io.eventtide.spark

import java.time.{Duration, Instant, LocalDateTime, Period}

import scala.annotation.varargs

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.col

import io.eventtide.spark.options.{DurationText, OriginText, SettingText, SizeText}
import io.eventtide.spark.planning.WindowRequest

/** The first part of the builder: event time, keys, kinds of windows, and where they start. */
private[spark] trait WindowFraming { this: WindowBuilder =>

  /** Sets the event-time column, a TIMESTAMP or TIMESTAMP_NTZ, or a field of a struct such as
    * `meta.ts`. Without this method it is the column that has a watermark.
    */
  def eventTime(column: String): WindowBuilder = changed { request =>
    request.copy(eventTime = Some(column), watermark = Map.empty).withColumns("substream", Nil)
  }

  /** Sets the event-time column and the policy of its watermark. */
  def eventTime(column: String, policy: WatermarkPolicy): WindowBuilder =
    eventTime(column, policy, WatermarkOptions())

  /** Sets the event-time column, the policy of its watermark, and other options. */
  def eventTime(
      column: String,
      policy: WatermarkPolicy,
      options: WatermarkOptions
  ): WindowBuilder = changed { request =>
    request
      .copy(eventTime = Some(column), watermark = policy.options ++ options.values)
      .withColumns("substream", options.substream)
  }

  /** Gives each row the time of the batch that reads it, in place of an event time. */
  def processingTime(): WindowBuilder = changed(_.copy(usesProcessingTime = true))

  /** Sets the key columns; without keys one window holds all rows. */
  @varargs def keyBy(columns: Column*): WindowBuilder =
    changed(_.withColumns("keys", WindowRequest.someOf("keys", columns)))

  /** As with columns, by their names. */
  @varargs def keyBy(name: String, names: String*): WindowBuilder =
    keyBy((name +: names).map(col): _*)

  /** Windows of `size`, side by side.
    *
    * @param size
    *   a millisecond or more, or with a time zone a calendar size such as `1 month`
    */
  def tumbling(size: String): WindowBuilder = framed("tumbling", "size" -> size)

  /** As with text. */
  def tumbling(size: Duration): WindowBuilder = tumbling(SettingText.text(size))

  /** As with text: `Period.ofMonths(1)`. */
  def tumbling(size: Period): WindowBuilder = tumbling(size.toString)

  /** Windows of `size`, of which one begins every `every`, which must divide the size. */
  def sliding(size: String, every: String): WindowBuilder =
    framed("sliding", "size" -> size, "slide" -> every)

  /** As with text. */
  def sliding(size: Duration, every: Duration): WindowBuilder =
    sliding(SettingText.text(size), SettingText.text(every))

  /** As with text. */
  def sliding(size: Period, every: Period): WindowBuilder = sliding(size.toString, every.toString)

  /** Windows that grow by `step` up to their size, which is a multiple of the step. */
  def cumulate(size: String, step: String): WindowBuilder =
    framed("cumulate", "size" -> size, "step" -> step)

  /** As with text. */
  def cumulate(size: Duration, step: Duration): WindowBuilder =
    cumulate(SettingText.text(size), SettingText.text(step))

  /** As with text. */
  def cumulate(size: Period, step: Period): WindowBuilder = cumulate(size.toString, step.toString)

  /** Sessions: rows of a key with less than `gap` between their times. */
  def session(gap: String): WindowBuilder =
    ofKind("session", "gap" -> DurationText.iso(DurationText.frame("gap", gap)))

  /** As with text. */
  def session(gap: Duration): WindowBuilder = session(SettingText.text(gap))

  /** Sessions in which each row has its own gap: an interval, or text such as `5 seconds`. */
  def session(gap: Column): WindowBuilder = {
    val sessions = ofKind("session", "gap" -> "column")
    sessions.changed(_.withColumns("gap", Seq(gap)))
  }

  /** Ends a session after this duration at the latest; at least the gap. */
  def maximumDuration(most: String): WindowBuilder = set("maximum_duration", most)

  /** As with text. */
  def maximumDuration(most: Duration): WindowBuilder = maximumDuration(SettingText.text(most))

  /** Sets whether rows exactly one gap apart belong to two sessions (`separate`) or to one
    * (`merge`).
    */
  def touching(rule: String): WindowBuilder = set("touching", rule)

  /** Windows of `rows` rows of a key, side by side, in the order of their arrival. */
  def byCount(rows: Int): WindowBuilder = ofKind("count", "rows" -> SettingText.rows("rows", rows))

  /** Windows of `rows` rows of a key, of which one ends every `every` rows. */
  def byCount(rows: Int, every: Int): WindowBuilder =
    byCount(rows).changed(_.withOption("slide", SettingText.rows("slide", every)))

  /** Shifts the starts of windows from the epoch; below the slide or, for `cumulate`, the size. */
  def offset(offset: String): WindowBuilder = set("offset", offset)

  /** As with text. */
  def offset(offset: Duration): WindowBuilder = this.offset(SettingText.text(offset))

  /** Sets a time at which a window starts, in ISO 8601; a time without an offset is a local time of
    * the time zone.
    */
  def origin(origin: String): WindowBuilder =
    changed(_.copy(origin = Some(OriginText.read(origin))))

  /** As with text. */
  def origin(origin: Instant): WindowBuilder = changed(_.copy(origin = Some(OriginText.of(origin))))

  /** As with text. */
  def origin(origin: LocalDateTime): WindowBuilder = this.origin(origin.toString)

  /** Sets the time zone in which calendar windows start at midnight, such as `Europe/Berlin`. */
  def timeZone(name: String): WindowBuilder = set("time_zone", name)

  private def framed(kind: String, sizes: (String, String)*): WindowBuilder = {
    val read = sizes.map { case (name, text) => name -> SizeText.read(name, text) }
    changed(_.withKind(kind, Map.empty).copy(sizes = read.toMap))
  }

  private def ofKind(kind: String, options: (String, String)*): WindowBuilder =
    changed(_.withKind(kind, options.toMap))
}
