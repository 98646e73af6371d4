package io.eventtide.spark.query.monitor

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import io.eventtide.kernel.disorder.{DisorderHistogram, DisorderHistory, Drift}

/** The disorder of an input, over its recent rows, the last hour and the week before.
  *
  * @param drift
  *   the change from the week to the last hour, if it is large
  */
private[query] final case class DisorderReport(
    recent: DisorderHistogram,
    lastHour: DisorderHistogram,
    week: DisorderHistogram,
    drift: Option[Drift]
) {

  /** The lag in microseconds that would have kept a share of the recent rows. */
  def lagFor(share: Double): Long = recent.lagFor((recent.rows * (1 - share)).toLong)

  def write(node: ObjectNode): Unit = {
    DisorderReport.write(recent, node.putArray("recent"))
    DisorderReport.write(lastHour, node.putArray("lastHour"))
    DisorderReport.write(week, node.putArray("week"))
    drift.foreach { of =>
      val at = node.putObject("drift").put("share", of.share)
      at.put("lastHour", of.lastHour).put("week", of.week)
    }
  }
}

private[query] object DisorderReport {

  /** A snapshot of a history. */
  def of(history: DisorderHistory): DisorderReport =
    DisorderReport(
      history.recent.copied,
      history.lastHour,
      history.week.copied,
      drift(history)
    )

  /** The change from the week to the last hour, if it is large. */
  def drift(history: DisorderHistory): Option[Drift] =
    Drift.of(history.lastHour, history.week, LeastMicros)

  /** Changes of a lag below one second do not matter. */
  private val LeastMicros = 1000000L

  // Pairs of the highest disorder of a step, in microseconds, and its rows.
  private def write(rows: DisorderHistogram, node: ArrayNode): Unit =
    rows.foreach((disorder, count) => node.addArray().add(disorder).add(count): Unit)
}
