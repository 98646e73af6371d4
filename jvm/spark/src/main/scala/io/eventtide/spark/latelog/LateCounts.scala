package io.eventtide.spark.latelog

/** Row counts of the windows since the checkpoint began: late rows by reason, and on-time rows. */
private[spark] final case class LateCounts(late: Map[String, Long], onTime: Long)

/** The numbers of on-time rows and of late rows of the windows in one batch, and their lateness. */
private[spark] final case class BatchLateness(onTime: Long, late: Long, by: LatenessHistogram)

private[spark] object BatchLateness {
  val None: BatchLateness = BatchLateness(0, 0, LatenessHistogram.None)
}

private[spark] object LateCounts {
  val None: LateCounts = LateCounts(Map.empty, 0)
}
