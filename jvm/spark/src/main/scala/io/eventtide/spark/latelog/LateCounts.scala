package io.eventtide.spark.latelog

/** What became of the rows of windows: the late ones by reason, in the last batch and since the
  * checkpoint began, and those on time since then.
  */
private[spark] final case class LateCounts(
    batch: Map[String, Long],
    total: Map[String, Long],
    onTime: Long
)

/** What windows took and what was too late for them, in one batch. */
private[spark] final case class BatchLateness(onTime: Long, late: Long, by: LatenessHistogram)

private[spark] object BatchLateness {
  val None: BatchLateness = BatchLateness(0, 0, LatenessHistogram.None)
}

private[spark] object LateCounts {
  val None: LateCounts = LateCounts(Map.empty, Map.empty, 0)
}
