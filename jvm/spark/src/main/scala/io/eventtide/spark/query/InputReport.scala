package io.eventtide.spark.query

import scala.collection.mutable

import com.fasterxml.jackson.databind.node.ObjectNode

import io.eventtide.kernel.watermark.{Activity, Status, SubstreamReport}
import io.eventtide.spark.options.{PolicyTree, WatermarkSettings}

/** One input of a query: the substreams under one watermark node; times in microseconds.
  *
  * @param rows
  *   of the last batch
  */
private[query] final case class InputReport(
    position: Int,
    settings: WatermarkSettings,
    status: Status,
    idealMicros: Option[Long],
    emittedMicros: Option[Long],
    badTime: Long,
    future: Long,
    private val substreams: Seq[SubstreamReport],
    private val rows: BatchRows
) {
  private lazy val names = InputReport.shownNames(settings)

  // The stand-in that every input has before its first row is nobody's substream.
  private def visible: Iterator[SubstreamReport] = {
    val hidden = Option.when(settings.expectedCount.isEmpty)(QueryInput.standIn(1))
    substreams.iterator.filterNot(one => hidden.contains(one.name))
  }

  def count: Int = visible.size
  def idle: Int = visible.count(_.activity.isIdle)

  /** How far the last of those that count is behind the first of all; None while one that counts has
    * not been seen. When none counts, nobody is waited for.
    */
  def spread: Option[Long] = {
    val counting = visible.filterNot(_.activity.isIdle).map(_.top).toSeq
    val first = visible.flatMap(_.top).maxOption
    if (counting.isEmpty) first.map(_ => 0L)
    else for (last <- counting.min; top <- first) yield top - last
  }

  /** The substreams with the lowest watermarks, the lowest first. */
  def laggards(most: Int): Seq[SubstreamLine] = {
    val lowest = mutable.PriorityQueue.empty(Ordering.by(InputReport.watermarkOf))
    visible.foreach { one =>
      val isFull = lowest.size == most
      if (!isFull || InputReport.watermarkOf(one) < InputReport.watermarkOf(lowest.head)) {
        if (isFull) { val _ = lowest.dequeue() }
        lowest += one
      }
    }
    lowest.dequeueAll.reverse.map(line)
  }

  def lines: Seq[SubstreamLine] = visible.map(line).toSeq

  def write(node: ObjectNode): Unit = {
    node.put("position", position).put("policy", PolicyTree.lines(settings).mkString(" "))
    node.put("state", InputReport.stateOf(status)).put("badTime", badTime).put("future", future)
    WatermarkReport.putTime(node, "ideal", idealMicros)
    WatermarkReport.putTime(node, "emitted", emittedMicros)
    val array = node.putArray("substreams")
    lines.foreach(_.write(array.addObject()))
  }

  private def line(of: SubstreamReport): SubstreamLine = SubstreamLine(
    names.getOrElse(of.name, of.name),
    of.top,
    of.watermark,
    of.activity,
    of.since,
    rows.substreams.get(of.name).fold(0L)(_.count),
    of.rows
  )
}

private object InputReport {

  private def watermarkOf(one: SubstreamReport): Long = one.watermark.getOrElse(Long.MinValue)

  // Stand-ins for expected substreams, as people see them: "2 of 5".
  private def shownNames(settings: WatermarkSettings): Map[String, String] =
    settings.expectedCount.fold(Map.empty[String, String]) { count =>
      (1 to count).map(i => QueryInput.standIn(i) -> s"$i of $count").toMap
    }

  private def stateOf(status: Status): String = status match {
    case Status.Value => "active"
    case Status.Unknown => "unknown"
    case Status.Idle => "idle"
  }
}

/** One substream: `rows` in the last batch, `rowsTotal` since the checkpoint began. */
private[query] final case class SubstreamLine(
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
