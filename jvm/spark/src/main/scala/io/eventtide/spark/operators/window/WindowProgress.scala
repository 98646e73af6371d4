package io.eventtide.spark.operators.window

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  StatefulOperatorCustomMetric,
  StatefulOperatorCustomSumMetric
}

import io.eventtide.spark.latelog.{LateReason, LateReport}
import io.eventtide.spark.spi.NextTimer

/** The metrics of one window in Spark's progress of one batch.
  *
  *   - '''Guarantee:''' each late row counts once, even if its task or its batch was retried.
  *   - '''Units:''' rows, and keys with open windows.
  *
  * @param late
  *   late rows by reason, including future rows and rows without a time
  * @param keys
  *   the number of keys with open windows; None if it is not known
  */
private[window] final case class WindowProgress(late: Map[LateReason, Long], keys: Option[Long]) {

  /** The values of Spark's metrics, by their names. */
  def values: Map[String, Long] = {
    val tooLate = LateReason.tooLate.map(late.getOrElse(_, 0L)).sum
    val byReason =
      LateReason.all.map(reason => WindowProgress.nameOf(reason) -> late.getOrElse(reason, 0L))
    Map(WindowProgress.TooLate -> tooLate) ++ byReason ++ keys.map(WindowProgress.Keys -> _)
  }
}

private[window] object WindowProgress {

  /** Spark's metric: rows that are dropped because of the watermark. */
  private val TooLate = "numRowsDroppedByWatermark"

  private val Keys = "numOpenKeys"

  def apply(reports: Iterable[LateReport], due: Iterable[NextTimer]): WindowProgress = {
    val late = reports.flatMap(_.rows).groupMapReduce(_._1)(_._2)(_ + _)
    val keys = due.map(_.keys)
    WindowProgress(late, Option.when(!keys.exists(_ == NextTimer.Unknown))(keys.sum))
  }

  /** The metrics in addition to the metrics of every stateful operator. */
  val metrics: Seq[StatefulOperatorCustomMetric] =
    LateReason.all.map { reason =>
      StatefulOperatorCustomSumMetric(nameOf(reason), s"number of late rows: ${reason.name}")
    } :+ StatefulOperatorCustomSumMetric(Keys, "number of keys with open windows")

  // In the style of Spark's metric names, for example numLateWindowClosed.
  private def nameOf(reason: LateReason): String =
    reason.name.split('_').map(_.capitalize).mkString("numLate", "", "")
}
