package io.eventtide.spark.query.monitor

import com.fasterxml.jackson.databind.node.ObjectNode

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.watermark.{Activity, SubstreamReport, SubstreamSummary, WatermarkStatus}
import io.eventtide.spark.options.{PolicyFormatter, WatermarkSettings}
import io.eventtide.spark.spi.{BatchEventTimeStats, SubstreamName}

/** One input of a query: the substreams under one watermark node. Times are in microseconds.
  *
  * @param rows
  *   the event-time statistics of the last batch
  * @param limit
  *   the number of substreams and its limit
  * @param aheadMicros
  *   the offset of the substreams' clock from the machine's clock
  * @param disorder
  *   the disorder of its rows; None if it is not counted, or before the first row
  */
private[query] final case class InputReport(
    position: Int,
    settings: WatermarkSettings,
    status: WatermarkStatus,
    idealMicros: Option[Long],
    emittedMicros: Option[Long],
    badTime: Long,
    future: Long,
    private val substreams: SubstreamSummary,
    private val rows: BatchEventTimeStats,
    limit: SubstreamLimit,
    private val aheadMicros: Long = 0,
    private[query] val disorder: Option[DisorderReport] = None
) {
  private lazy val names = InputReport.shownNames(settings)

  def label: String = settings.label(position)

  /** Whether it holds the watermark because no row of it has been read. */
  def isUnseen: Boolean = status != WatermarkStatus.Idle && substreams.listed.isEmpty

  def count: Int = substreams.count
  def idle: Int = substreams.idle

  /** The distance from the highest event time of all substreams to the lowest among the active
    * substreams. None while an active substream has no rows yet; zero if all are idle.
    */
  def spread: Option[Long] = substreams.spread

  /** The `most` substreams with the lowest watermarks, the lowest first. */
  def laggards(most: Int): Seq[SubstreamReportLine] =
    substreams.listed.sortBy(InputReport.watermarkOf).take(most).map(line)

  /** The highest event time of all substreams. */
  def highest: Option[Long] = substreams.listed.flatMap(_.top).maxOption

  /** The name of the active substream with the lowest watermark. */
  def holder: Option[String] =
    substreams.listed.filterNot(_.activity.isIdle).minByOption(InputReport.watermarkOf).map { one =>
      names.getOrElse(one.name, one.name)
    }

  /** All substreams; above the limit of a report, the substreams furthest behind and the leader. */
  def lines: Seq[SubstreamReportLine] = substreams.listed.map(line)

  /** @param most
    *   the highest number of substreams: those with the lowest watermarks
    */
  def write(node: ObjectNode, most: Int = Int.MaxValue): Unit = {
    node.put("position", position).put("policy", PolicyFormatter.lines(settings).mkString(" "))
    node.put("name", settings.name.orNull).put("state", status.name)
    WatermarkReport.putTime(node, "ideal", idealMicros)
    WatermarkReport.putTime(node, "emitted", emittedMicros)
    node.put("substreamCount", limit.count).put("maxSubstreams", limit.most)
    limit.reachedInMicros.filter(_ => limit.isNear) match {
      case Some(micros) => node.put("limitReachedIn", micros)
      case None => node.putNull("limitReachedIn")
    }
    disorder.foreach(_.write(node.putObject("disorder")))
    writeSubstreams(node, most)
  }

  /** Writes the substreams in place of those that are there. */
  def writeSubstreams(node: ObjectNode, most: Int = Int.MaxValue): Unit = {
    val array = node.putArray("substreams")
    val shown = if (substreams.listed.length > most) laggards(most) else lines
    shown.foreach(_.write(array.addObject()))
  }

  private def line(of: SubstreamReport): SubstreamReportLine = SubstreamReportLine(
    names.getOrElse(of.name, of.name),
    of.top,
    of.watermark,
    of.activity,
    Clamped.subtract(of.since, aheadMicros),
    rows.substreams.get(of.name).fold(0L)(_.count),
    of.rows
  )
}

private[query] object InputReport {

  private def watermarkOf(one: SubstreamReport): Long = one.watermark.getOrElse(Long.MinValue)

  // The displayed names of placeholders for expected substreams, such as "2 of 5".
  private def shownNames(settings: WatermarkSettings): Map[String, String] =
    settings.expectedCount.fold(Map.empty[String, String]) { count =>
      (1 to count).map(i => SubstreamName.placeholder(i) -> s"$i of $count").toMap
    }
}

/** One substream, with `rows` in the last batch and `rowsTotal` since the checkpoint began. */
private[query] final case class SubstreamReportLine(
    name: String,
    topMicros: Option[Long],
    watermarkMicros: Option[Long],
    activity: Activity,
    sinceMicros: Long,
    rows: Long,
    rowsTotal: Long
) {

  def write(node: ObjectNode): Unit = {
    node.put("name", name).put("state", activity.name).put("reason", reason)
    node.put("since", sinceMicros)
    node.put("rows", rows).put("rowsTotal", rowsTotal)
    WatermarkReport.putTime(node, "top", topMicros)
    WatermarkReport.putTime(node, "watermark", watermarkMicros)
  }

  /** The reason for its state. */
  def reason: String = activity match {
    case Activity.Active => "rows"
    case Activity.Backlogged => "backlog"
    case Activity.TimedOut => "timeout"
    case Activity.CaughtUp => "caught up"
    case Activity.Expected | Activity.NeverSeen => "never seen"
  }

  def text: String =
    s"top ${WatermarkReport.text(topMicros)}, watermark ${WatermarkReport.text(watermarkMicros)}, " +
      s"$activity ($reason) since ${WatermarkReport.text(Some(sinceMicros))}, $rows rows"
}
