package io.eventtide.spark.latelog

/** Row counts of the windows: late rows by reason in the last batch, late rows by reason since the
  * checkpoint began, and on-time rows since the checkpoint began.
  */
private[spark] final case class LateCounts(
    batch: Map[String, Long],
    total: Map[String, Long],
    onTime: Long
)

/** The numbers of on-time rows and of late rows of the windows in one batch, and their lateness. */
private[spark] final case class BatchLateness(onTime: Long, late: Long, by: LatenessHistogram)

private[spark] object BatchLateness {
  val None: BatchLateness = BatchLateness(0, 0, LatenessHistogram.None)
}

private[spark] object LateCounts {
  val None: LateCounts = LateCounts(Map.empty, Map.empty, 0)
}
