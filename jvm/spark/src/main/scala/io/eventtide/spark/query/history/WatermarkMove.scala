package io.eventtide.spark.query.history

import io.eventtide.kernel.watermark.WatermarkStatus
import io.eventtide.spark.options.PolicyFormatter
import io.eventtide.spark.query.monitor.WatermarkDiagnosis.{quoted, utc}
import io.eventtide.spark.query.monitor.{InputReport, SubstreamReportLine, WatermarkReport}

/** A batch that moved the watermark of a query to a time or past it.
  *
  * @param target
  *   the time, in microseconds and whole milliseconds
  */
private[history] final case class WatermarkMove(
    before: WatermarkReport,
    after: WatermarkReport,
    target: Long
) {

  /** The substreams that held the watermark below the time until the batch, the lowest first. */
  private val holders: Seq[Holder] = before.inputs
    .filter(_.status != WatermarkStatus.Idle)
    .flatMap(input => input.lines.filter(holds).map(Holder(input, _)))
    .sortBy(_.line.watermarkMicros.getOrElse(Long.MinValue))

  private def holds(line: SubstreamReportLine): Boolean =
    !line.activity.isIdle && line.watermarkMicros.forall(_ < target)

  /** The batch and the reason, as a sentence. */
  def text: String = s"Batch ${after.batchId}${at(after)} moved the watermark$steps: $cause."

  private def at(report: WatermarkReport): String =
    if (report.clockMicros > 0) s", at ${utc(report.clockMicros)}," else ""

  private def steps: String = {
    val from = before.emittedMicros.fold("")(micros => s" from ${utc(micros)}")
    from + after.emittedMicros.fold("")(micros => s" to ${utc(micros)}")
  }

  private def unseen: Option[InputReport] = before.inputs.find(_.isUnseen)

  // An input without rows is lower than any substream of the others.
  private def cause: String = holders.headOption.filter(_ => unseen.isEmpty) match {
    case Some(holder) => s"${held(holder)}, until ${released(holder)}"
    case None if before.inputs.forall(_.lines.isEmpty) => "it had the first rows"
    case None if unseen.isDefined => s"it had the first rows of ${unseen.get.label}"
    case None if before.idealMicros.exists(_ >= target) =>
      s"the policies were at ${before.idealMicros.fold("")(utc)} before" + (
        if (before.inputs.exists(_.settings.isThrottled)) ", and the throttle let it pass"
        else ", and it is reported with the next rows"
      )
    case None => "no active substream held it"
  }

  private def held(holder: Holder): String = {
    val others = holders.length - 1
    val company =
      if (others == 0) "" else if (others == 1) " and another one" else s" and $others others"
    val where =
      holder.line.watermarkMicros.fold("it, with no watermark yet")(at => s"it at ${utc(at)}")
    s"${quoted(holder.line.name)}$company held $where"
  }

  private def released(holder: Holder): String = {
    val input = after.inputs(holder.input.position)
    input.lines.find(_.name == holder.line.name) match {
      case None if input.count > input.lines.length => "it advanced" // only some are listed
      case None => "it was forgotten"
      case Some(line) if line.activity.isIdle || input.status == WatermarkStatus.Idle =>
        s"it went idle (${line.reason})"
      case Some(line) if line.topMicros != holder.line.topMicros =>
        s"its rows reached ${time(line.topMicros)}, which ${policy(input)} makes ${time(line.watermarkMicros)}"
      case Some(line) =>
        s"the clock moved it to ${time(line.watermarkMicros)} without rows, by ${policy(input)}"
    }
  }

  private def time(micros: Option[Long]): String = micros.fold("none")(utc)

  private def policy(input: InputReport): String =
    PolicyFormatter.lines(input.settings).map(_.trim).mkString(" ")
}

private final case class Holder(input: InputReport, line: SubstreamReportLine)
