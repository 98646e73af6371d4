package io.eventtide.spark.latelog

import io.eventtide.kernel.disorder.DisorderHistogram

/** Row counts of the windows since the checkpoint began: late rows by reason, and on-time rows. */
private[spark] final case class LateCounts(late: Map[String, Long], onTime: Long)

/** The numbers of on-time rows and of late rows of the windows in one batch or several, and their
  * lateness.
  */
private[spark] final case class BatchLateness(onTime: Long, late: Long, by: DisorderHistogram) {

  /** The share of late rows; 0 without rows. */
  def share: Double = if (late == 0) 0 else late.toDouble / (late + onTime)

  /** These batches and others. */
  def and(more: BatchLateness): BatchLateness = {
    val both = DisorderHistogram.sum(Seq(by, more.by))
    BatchLateness(onTime + more.onTime, late + more.late, both)
  }
}

private[spark] object BatchLateness {
  val None: BatchLateness = BatchLateness(0, 0, new DisorderHistogram)
}

private[spark] object LateCounts {
  val None: LateCounts = LateCounts(Map.empty, 0)
}
