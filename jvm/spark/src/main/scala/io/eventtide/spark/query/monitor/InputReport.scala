package io.eventtide.spark.query.monitor

import com.fasterxml.jackson.databind.node.ObjectNode

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.watermark.{Activity, Status, SubstreamReport, SubstreamSummary}
import io.eventtide.spark.options.{PolicyFormatter, WatermarkSettings}
import io.eventtide.spark.spi.{BatchEventTimeStats, SubstreamName}

/** One input of a query: the substreams under one watermark node; times in microseconds.
  *
  * @param rows
  *   of the last batch
  * @param limit
  *   how many substreams there are, and may be
  * @param aheadMicros
  *   how far the clock of the substreams is ahead of the machine's
  */
private[query] final case class InputReport(
    position: Int,
    settings: WatermarkSettings,
    status: Status,
    idealMicros: Option[Long],
    emittedMicros: Option[Long],
    badTime: Long,
    future: Long,
    private val substreams: SubstreamSummary,
    private val rows: BatchEventTimeStats,
    limit: SubstreamLimit,
    private val aheadMicros: Long = 0
) {
  private lazy val names = InputReport.shownNames(settings)

  def count: Int = substreams.count
  def idle: Int = substreams.idle

  /** How far the last of those that count is behind the first of all; None while one that counts has
    * not been seen. When none counts, nobody is waited for.
    */
  def spread: Option[Long] = substreams.spread

  /** The substreams with the lowest watermarks, the lowest first. */
  def laggards(most: Int): Seq[SubstreamReportLine] =
    substreams.listed.sortBy(InputReport.watermarkOf).take(most).map(line)

  /** All, or where they are very many those furthest behind and the first. */
  def lines: Seq[SubstreamReportLine] = substreams.listed.map(line)

  def write(node: ObjectNode): Unit = {
    node.put("position", position).put("policy", PolicyFormatter.lines(settings).mkString(" "))
    node.put("state", InputReport.stateOf(status)).put("badTime", badTime).put("future", future)
    WatermarkReport.putTime(node, "ideal", idealMicros)
    WatermarkReport.putTime(node, "emitted", emittedMicros)
    node.put("substreamCount", limit.count).put("maxSubstreams", limit.most)
    limit.reachedInMicros.filter(_ => limit.isNear) match {
      case Some(micros) => node.put("limitReachedIn", micros)
      case None => node.putNull("limitReachedIn")
    }
    val array = node.putArray("substreams")
    lines.foreach(_.write(array.addObject()))
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

  // Stand-ins for expected substreams, as people see them: "2 of 5".
  private def shownNames(settings: WatermarkSettings): Map[String, String] =
    settings.expectedCount.fold(Map.empty[String, String]) { count =>
      (1 to count).map(i => SubstreamName.placeholder(i) -> s"$i of $count").toMap
    }

  private def stateOf(status: Status): String = status match {
    case Status.Value => "active"
    case Status.Unknown => "unknown"
    case Status.Idle => "idle"
  }
}

/** One substream: `rows` in the last batch, `rowsTotal` since the checkpoint began. */
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

  private def reason: String = activity match {
    case Activity.Active => "rows"
    case Activity.Backlogged => "backlog"
    case Activity.Silent => "timeout"
    case Activity.CaughtUp => "caught up"
    case Activity.Expected | Activity.NeverSeen => "never seen"
  }

  def text: String =
    s"top ${WatermarkReport.text(topMicros)}, watermark ${WatermarkReport.text(watermarkMicros)}, " +
      s"$activity ($reason) since ${WatermarkReport.text(Some(sinceMicros))}, $rows rows"
}
