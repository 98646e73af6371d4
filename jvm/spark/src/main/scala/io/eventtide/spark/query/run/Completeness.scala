package io.eventtide.spark.query.run

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.util.UUID

import org.apache.spark.sql.internal.SQLConf

import io.eventtide.kernel.completeness.{ClosingBatch, FrameRows, WindowCompleteness, WindowShares}
import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.spark.latelog.LateLog
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.query.monitor.{LagCurveSettings, MonitorThresholds}

/** How complete the windows of a query are, by their position in the plan: those whose rows are judged
  * before the shuffle, by the watermark of the query. The others are not counted.
  */
private[run] final class Completeness(
    windows: IndexedSeq[(UUID, WindowSettings)],
    limits: CompletenessLimits
) {
  private val counted = windows.map { case (node, settings) =>
    Option.when(limits.keep > 0 && !settings.isJudgedByKey) {
      CountedWindow(node, new WindowCompleteness(settings.spec, limits.keep, limits.memory))
    }
  }

  /** Whether any window is counted. */
  val isOn: Boolean = counted.exists(_.isDefined)

  /** Takes the rows of a batch.
    *
    * @param boundary
    *   the last boundary up to which the batch has closed the windows at a position
    */
  def take(batch: EndedBatch, logs: Map[UUID, LateLog])(boundary: Int => Option[Long]): Unit =
    for ((window, position) <- counted.zipWithIndex; of <- window) {
      val reports = logs.get(of.node).toSeq.flatMap(_.reports.value.values)
      val closing = ClosingBatch(batch.id, batch.nowMicros, boundary(position), batch.reached)
      of.state.observe(closing, FrameRows.sum(reports.flatMap(_.frames)), batch.disorder)
    }

  /** The expected shares of the window at a position that closes in the next batch; None if it is not
    * counted.
    *
    * @param reached
    *   the event time that has been reached
    */
  def sharesOf(position: Int, reached: Long): Option[WindowShares] =
    counted.lift(position).flatten.map(_.state.sharesAt(reached))

  /** The state of each window; empty for one that is not counted. */
  def save(whole: Boolean): Seq[Array[Byte]] = counted.map { window =>
    val buffer = new ByteArrayOutputStream
    window.foreach(_.state.save(new DataOutputStream(buffer), whole))
    buffer.toByteArray
  }

  /** Restores the state of a new run: a whole record of each window, and later ones. A window that has
    * no record begins now.
    */
  def restore(saved: Seq[Seq[Array[Byte]]]): Unit =
    for (records <- saved; (window, record) <- counted.zip(records); of <- window)
      if (record.nonEmpty)
        of.state.restore(new DataInputStream(new ByteArrayInputStream(record)))
}

private final case class CountedWindow(node: UUID, state: WindowCompleteness)

/** A batch that has ended.
  *
  * @param reached
  *   the event time that the query had reached before it
  */
private[run] final case class EndedBatch(
    id: Long,
    nowMicros: Long,
    reached: Long,
    disorder: DisorderHistogram
)

/** The limits of what a run knows about closed windows.
  *
  * @param keep
  *   the number of closed windows of each window operator; 0 to count none
  * @param memory
  *   the number of rows after which the disorder of earlier rows counts half
  */
private[run] final case class CompletenessLimits(keep: Int, memory: Long)

private[run] object CompletenessLimits {
  val Windows = "spark.eventtide.completeness.windows"

  def of(conf: SQLConf): CompletenessLimits = {
    val keep = MonitorThresholds.setting(conf, Windows, "10000", "a whole number, 0 for none") {
      _.toIntOption.filter(_ >= 0)
    }
    CompletenessLimits(keep, LagCurveSettings.rows(conf).getOrElse(Long.MaxValue))
  }
}
