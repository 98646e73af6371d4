package io.eventtide.spark.query.history

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.latelog.LateReason
import io.eventtide.spark.options.{Durations, StoredWindow}
import io.eventtide.spark.query.history.WhyQuestion.{OfLateRow, OfWindow}
import io.eventtide.spark.query.monitor.WatermarkDiagnosis.{quoted, time, utc}
import io.eventtide.spark.query.monitor.{SubstreamReportLine, WatermarkReport}
import io.eventtide.spark.query.run.QueryInputs

/** Says why a window is open or has closed, and why a row was late, from a checkpoint alone. Times
  * are in microseconds.
  */
private[spark] final class Why(checkpoint: Path, conf: Configuration) {
  private val history = WatermarkHistory.read(checkpoint, conf)

  def answer(question: WhyQuestion): String = question match {
    case of: OfWindow => ofWindow(of)
    case of: OfLateRow if LateReason.tooLate.exists(_.name == of.reason) => tooLate(of)
    case of: OfLateRow => Why.refused(of)
  }

  private def ofWindow(of: OfWindow): String = {
    val window = timed(of.window)
    val (first, last) = window.bounds
    val name = s"Window $first${time(of.start)}, ${time(of.end)}$last UTC"
    val closesAt = window.closesAt(of.end)
    history.reached(closesAt) match {
      case None => s"$name is open. ${stillAhead(closesAt)}"
      case Some(Reached.Before(oldest)) => s"$name closed at ${utc(closesAt)}. ${before(oldest)}"
      case Some(Reached.In(move)) => s"$name closed at ${utc(closesAt)}. ${move.text}"
    }
  }

  private def stillAhead(closesAt: Long): String = history.last match {
    case None => s"It closes when the watermark reaches ${utc(closesAt)}; no batch has ended yet."
    case Some(last) =>
      val ahead = last.emittedMicros.fold("there is none yet") { now =>
        s"it is at ${utc(now)}, ${Durations.inWords(closesAt - now)} before"
      }
      s"It closes when the watermark reaches ${utc(closesAt)}; $ahead. ${last.blame}"
  }

  private def before(oldest: WatermarkReport): String =
    s"Batch ${oldest.batchId}, the oldest that the checkpoint keeps, ended with the watermark " +
      s"${oldest.emittedMicros.fold("")(utc)}: the cause is in it or before it. A higher " +
      "spark.sql.streaming.minBatchesToRetain keeps more."

  private def tooLate(row: OfLateRow): String = {
    val window = known(row.window)
    val lateFrom = window.lateFrom(row.eventTime)
    val came = s"The row of ${utc(row.eventTime)} came in batch ${row.batchId}, " +
      s"${Durations.inWords(row.watermark - row.eventTime)} behind the watermark ${utc(row.watermark)}"
    val cause = if (window.hasOwnTime) Why.ofKey(row) else s".${causeOf(row, lateFrom)}"
    val more = Durations.inWords(QueryInputs.wholeMs(row.watermark - lateFrom + 1))
    s"$came$cause With a lag longer by $more, it would have been on time."
  }

  private def causeOf(row: OfLateRow, lateFrom: Long): String = history.reached(lateFrom) match {
    case None => ""
    case Some(Reached.Before(oldest)) => s" ${before(oldest)}"
    case Some(Reached.In(move)) => s" ${move.text}" + ofOwn(row, move.before)
  }

  // A substream that is idle, or new, does not hold the watermark for its own rows.
  private def ofOwn(row: OfLateRow, before: WatermarkReport): String = {
    val lines = before.inputs.flatMap(_.lines)
    val own = row.substream.flatMap(name => lines.find(_.name == name))
    (row.substream, own) match {
      case (Some(name), None) if lines.nonEmpty =>
        s" ${quoted(name)}, from which the row is, had not been seen before."
      case (_, Some(line)) if line.activity.isIdle => Why.idle(line)
      case _ => ""
    }
  }

  private def timed(position: Int): StoredWindow = {
    val window = known(position)
    if (window.hasOwnTime) throw EventtideException("WHY_KEY_TIME", "window" -> position)
    window
  }

  private def known(position: Int): StoredWindow = {
    val windows = history.plan.windows
    val window = windows.lift(position).map(StoredWindow(_)).getOrElse {
      throw EventtideException(
        "WINDOW_UNKNOWN",
        "window" -> position,
        "root" -> history.root,
        "count" -> windows.length
      )
    }
    if (!window.endsByTime) throw EventtideException("WHY_ROW_COUNT", "window" -> position)
    window
  }
}

private[spark] object Why {

  // The rows of the key, or of its group, have moved it: no batch of the ledger says which.
  private def ofKey(row: OfLateRow): String =
    row.key.fold(" of its key.")(name => s" of its key ${quoted(name)}.")

  private def refused(row: OfLateRow): String = row.reason match {
    case LateReason.Future.name =>
      s"The row of ${utc(row.eventTime)} came in batch ${row.batchId}, further ahead of the clock " +
        "than guard_future allows."
    case LateReason.BadGap.name => s"The row in batch ${row.batchId} has no usable session gap."
    case _ => s"The row in batch ${row.batchId} has no usable event time."
  }

  private def idle(line: SubstreamReportLine): String =
    s" ${quoted(line.name)}, from which the row is, was idle (${line.reason}) since " +
      s"${utc(line.sinceMicros)}, so it did not hold the watermark."
}
