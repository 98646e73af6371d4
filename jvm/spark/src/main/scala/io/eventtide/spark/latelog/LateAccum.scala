package io.eventtide.spark.latelog

import java.io.ObjectOutputStream

import scala.collection.mutable

import org.apache.spark.util.AccumulatorV2

/** What one partition of one batch had to say about its rows, the late ones above all.
  *
  * @param stage
  *   Spark's id of the stage, the same when the stage is run again
  * @param onTime
  *   rows that were not late
  * @param lowest
  *   the lowest time of these, in microseconds
  * @param lateBy
  *   by how much the others were late
  */
final case class LateReport(
    partition: Int,
    stage: Int,
    file: Option[LateFileName],
    rows: Map[LateReason, Long],
    onTime: Long,
    lowest: Long,
    lateBy: LatenessHistogram
) {
  def total: Long = rows.valuesIterator.sum + onTime
}

/** Brings the reports of the tasks to the driver, one a partition.
  *
  * Of one stage the last counts: a task that is tried again, or a stage that is run again, perhaps
  * with the rows spread differently. Of several stages the fullest: a `foreachBatch` that reads its
  * frame twice reports the same rows again, or with a `first()` only the beginning of them. What an
  * attempt wrote whose report does not count, is an orphan.
  */
final class LateAccum extends AccumulatorV2[LateReport, Seq[LateReport]] {
  private val reports = mutable.HashMap.empty[Int, LateReport]

  override def add(report: LateReport): Unit = synchronized {
    if (reports.get(report.partition).forall(gives(_, report))) reports(report.partition) = report
  }

  private def gives(known: LateReport, to: LateReport): Boolean =
    known.stage == to.stage || known.total <= to.total

  override def value: Seq[LateReport] = synchronized(reports.values.toSeq)

  override def isZero: Boolean = synchronized(reports.isEmpty)

  override def copy(): LateAccum = synchronized {
    val copied = new LateAccum
    copied.reports ++= reports
    copied
  }

  override def reset(): Unit = synchronized(reports.clear())

  override def merge(other: AccumulatorV2[LateReport, Seq[LateReport]]): Unit =
    other.value.foreach(add)

  // A heartbeat serialises the accumulator while its task may report.
  private def writeObject(out: ObjectOutputStream): Unit = synchronized(out.defaultWriteObject())
}
