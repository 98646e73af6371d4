package io.eventtide.spark.latelog

import io.eventtide.kernel.completeness.FrameRows
import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.spark.spi.PartitionAccum

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
  * @param disorder
  *   the rows that would be late without a lag, by the lag that they need; None if not counted
  * @param frames
  *   the rows by frame; None if not counted
  */
final case class LateReport(
    stage: Int,
    file: Option[LateFileInfo],
    rows: Map[LateReason, Long],
    onTime: Long,
    lowest: Long,
    lateBy: DisorderHistogram,
    disorder: Option[DisorderHistogram],
    frames: Option[FrameRows]
) {

  /** The rows by the name of their reason. */
  def rowsByName: Map[String, Long] = rows.map { case (reason, n) => reason.name -> n }

  def total: Long = rows.valuesIterator.sum + onTime
}

/** Collects the reports of the tasks on the driver, one per partition.
  *
  * Within one stage the last report counts: a task or a stage may be retried, possibly with the
  * rows distributed differently. Among several stages the report with the most rows counts. A
  * `foreachBatch` that reads its frame twice reports the same rows again; with `first()` it reports
  * only a prefix of them. A file from an attempt whose report does not count is an orphan.
  */
final class LateAccum extends PartitionAccum[LateReport] {
  override protected def empty: LateAccum = new LateAccum

  override def add(report: (Int, LateReport)): Unit = synchronized {
    val (partition, by) = report
    if (known(partition).forall(isReplacedBy(_, by))) super.add(report)
  }

  private def isReplacedBy(known: LateReport, by: LateReport): Boolean =
    known.stage == by.stage || known.total <= by.total
}
