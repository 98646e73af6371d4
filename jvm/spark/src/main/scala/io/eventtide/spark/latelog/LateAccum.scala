package io.eventtide.spark.latelog

import java.io.ObjectOutputStream

import scala.collection.mutable

import org.apache.spark.util.AccumulatorV2

/** The report of one task: its row counts, the late file and how late the rows were.
  *
  * @param stage
  *   the id of the Spark stage; it does not change when the stage is retried
  * @param onTime
  *   the number of rows that were not late
  * @param lowest
  *   the lowest event time of the on-time rows, in microseconds
  * @param lateBy
  *   the lateness of the late rows
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

/** Collects the reports of the tasks on the driver, one per partition.
  *
  * Within one stage the last report counts: a task or a stage may be retried, possibly with the
  * rows distributed differently. Among several stages the report with the most rows counts. A
  * `foreachBatch` that reads its frame twice reports the same rows again; with `first()` it reports
  * only a prefix of them. A file from an attempt whose report does not count is an orphan.
  */
final class LateAccum extends AccumulatorV2[LateReport, Seq[LateReport]] {
  private val reports = mutable.HashMap.empty[Int, LateReport]

  override def add(report: LateReport): Unit = synchronized {
    if (reports.get(report.partition).forall(isReplacedBy(_, report)))
      reports(report.partition) = report
  }

  private def isReplacedBy(known: LateReport, by: LateReport): Boolean =
    known.stage == by.stage || known.total <= by.total

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

  // A heartbeat may serialize the accumulator while its task reports.
  private def writeObject(out: ObjectOutputStream): Unit = synchronized(out.defaultWriteObject())
}
