package io.eventtide.spark.query.monitor

import java.time.format.{DateTimeFormatter, DateTimeFormatterBuilder}
import java.time.temporal.{ChronoField, ChronoUnit}
import java.time.{Instant, ZoneOffset}

import io.eventtide.kernel.watermark.Activity
import io.eventtide.spark.options.Durations

/** Describes which substream delays a query's watermark, since when, and the remedy.
  *
  * This is the substream with the lowest watermark in the input with the lowest watermark. An
  * unknown watermark is lower than any other.
  */
private[query] object WatermarkDiagnosis {

  def of(query: WatermarkReport): String = {
    if (query.outlook.isByKey) KeyWatermarkDiagnosis.of(query.outlook)
    else describeQuery(query) + next(query) + KeyWatermarkDiagnosis.behind(query.outlook)
  }

  private def describeQuery(query: WatermarkReport): String = {
    val inputs = query.inputs.map(input => Candidate(input, input.lines))
    val counting = inputs.filter(_.counting.nonEmpty)
    val unseen = query.inputs.find(_.isUnseen)
    if (query.isHolding && isDue(query.outlook)) {
      s"The restart holds the watermark${at(query.emittedMicros)} until the sources have caught " +
        "up; with on_restart 'resume' the clock would advance it at once."
    } else if (inputs.forall(_.lines.isEmpty)) {
      "No substream holds the watermark back: there is none, because no row has been read yet."
    } else if (unseen.isDefined) {
      s"No row of ${unseen.get.label} has been read yet, so there is no watermark."
    } else if (counting.isEmpty) {
      s"No substream holds the watermark back${at(query.idealMicros)}: every substream is idle."
    } else inLull(query, counting).getOrElse(describeSlowest(query, counting)) + throttled(query)
  }

  // Whether the clock alone would have advanced the watermark by now.
  private def isDue(outlook: Outlook): Boolean =
    outlook.nextMove.exists(at => outlook.nowMicros.exists(at <= _))

  // If the clock advances the watermark without rows, no substream delays it.
  private def inLull(query: WatermarkReport, counting: Seq[Candidate]): Option[String] = {
    val source = counting.minBy(_.input.idealMicros)
    val silent = source.counting.minBy(_.watermarkMicros)
    for {
      now <- query.outlook.nowMicros
      _ <- query.outlook.nextMove if source.input.settings.policy.movesWithClock
      since = now - silent.sinceMicros if since >= Second && silent.topMicros.isDefined
    } yield {
      val of = if (source.counting.length > 1) s" of ${quoted(silent)}" else ""
      val watermark = (query.idealMicros ++ query.emittedMicros).maxOption
      s"No rows$of for ${Durations.inWords(since / Second * Second)}: the clock advances the watermark, which " +
        s"is${at(watermark)}."
    }
  }

  private val Second = 1000000L

  /** The next window to close, with the time or the watermark that closes it; empty if none is
    * open.
    */
  private def next(query: WatermarkReport): String = query.outlook.first.fold("") { closing =>
    val when = (closing.byClock, query.outlook.nowMicros) match {
      case (Some(at), Some(now)) =>
        s"in ${Durations.inWords(math.max(0L, at - now))} by the clock, without rows"
      case _ => s"when the watermark reaches ${utc(closing.watermark)}"
    }
    s" Next to close is ${closing.window}, $when."
  }

  // The policies' watermark and the watermark reported to Spark may differ by a throttle's step.
  private def throttled(query: WatermarkReport): String = {
    val step =
      for {
        ideal <- query.idealMicros
        emitted <- query.emittedMicros
        if emitted < wholeMs(ideal) && query.inputs.exists(_.settings.isThrottled)
      } yield s" The throttle has emitted ${utc(emitted)} so far."
    step.getOrElse("")
  }

  private def wholeMs(micros: Long): Long = Math.floorDiv(micros, 1000L) * 1000L

  private def describeSlowest(query: WatermarkReport, counting: Seq[Candidate]): String = {
    val source = counting.minBy(_.input.idealMicros)
    val slowest = source.counting.minBy(_.watermarkMicros)
    val (badTime, future) = (query.inputs.map(_.badTime).sum, query.inputs.map(_.future).sum)
    if (badTime + future > 0 && source.lines.forall(_.topMicros.isEmpty)) {
      s"There is no watermark, because no row could be used: $badTime had no event time that Spark " +
        s"can show, $future were too far ahead of the clock."
    } else if (source.counting.length > 1 && source.counting.forall(isBeside(slowest))) {
      s"No substream is behind the others: all hold the watermark${at(slowest.watermarkMicros)}, " +
        s"last seen at ${utc(source.counting.map(_.sinceMicros).max)}."
    } else {
      val of = if (query.inputs.length > 1) s" of ${source.input.label}" else ""
      val remedy =
        if (slowest.activity == Activity.Backlogged) {
          "its partition has unread rows, so it cannot be idle; if a filter removes all of " +
            "them, name another substream"
        } else asIdle(query.idealMicros, without(slowest, source, counting))
      s"${quoted(slowest)}$of ${describeDelay(slowest, source)}; $remedy."
    }
  }

  private def isBeside(one: SubstreamReportLine)(other: SubstreamReportLine): Boolean =
    one.watermarkMicros.isDefined && one.watermarkMicros == other.watermarkMicros

  private def describeDelay(slowest: SubstreamReportLine, source: Candidate): String =
    if (slowest.watermarkMicros.isEmpty) {
      val seen =
        if (slowest.activity == Activity.Expected) "has not been seen" else "has no watermark yet"
      s"$seen since ${utc(slowest.sinceMicros)}, so there is no watermark"
    } else {
      val leader = source.lines.maxBy(_.topMicros)
      val behind = for (top <- slowest.topMicros; highest <- leader.topMicros) yield highest - top
      val behindLeader =
        behind.filter(_ > 0).map(by => s", ${Durations.inWords(by)} behind ${quoted(leader)}")
      s"holds the watermark${at(slowest.watermarkMicros)}${behindLeader.getOrElse("")}, " +
        s"last seen at ${utc(slowest.sinceMicros)}"
    }

  // Escapes control characters: names come from the data, and must not start a new log line.
  private def quoted(substream: SubstreamReportLine): String = quoted(substream.name)

  private[query] def quoted(name: String): String =
    name
      .flatMap(c => if (c.isControl) f"\\u${c.toInt}%04x" else c.toString)
      .mkString("'", "", "'")

  private def asIdle(now: Option[Long], without: Option[Long]): String = without match {
    case None => "if it were idle, there would still be none, because others are unknown too"
    case Some(next) if now.exists(next <= _) =>
      "if it were idle, the watermark would not move"
    case Some(next) => s"if it were idle, the watermark would advance to ${utc(next)}"
  }

  // The policies' watermark if the substream that delays it were idle.
  private def without(
      slowest: SubstreamReportLine,
      source: Candidate,
      counting: Seq[Candidate]
  ): Option[Long] = {
    val others = source.counting.filter(_ ne slowest).map(_.watermarkMicros)
    val inputs = counting.filter(_ ne source).map(_.input.idealMicros)
    // When the last substream becomes idle, the highest watermark of any substream applies.
    if (others.isEmpty && inputs.isEmpty) source.lines.map(_.watermarkMicros).max
    else if (others.isEmpty) inputs.min
    else (others ++ inputs).min
  }

  private def at(micros: Option[Long]): String = micros.fold("")(time => s" at ${utc(time)}")

  private[query] def utc(micros: Long): String = s"${time(micros)} UTC"

  private[query] def time(micros: Long): String =
    Shown.format(Instant.EPOCH.plus(micros, ChronoUnit.MICROS).atOffset(ZoneOffset.UTC))

  private val Shown: DateTimeFormatter = new DateTimeFormatterBuilder()
    .appendPattern("uuuu-MM-dd HH:mm:ss")
    .appendFraction(ChronoField.MICRO_OF_SECOND, 0, 6, true)
    .toFormatter

  private final case class Candidate(input: InputReport, lines: Seq[SubstreamReportLine]) {
    val counting: Seq[SubstreamReportLine] = lines.filterNot(_.activity.isIdle)
  }
}
