package io.eventtide.spark.checkpoint

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.EventTimes

/** How a checkpoint says that its query has been drained: by a watermark that is the highest there is. */
private[spark] object EndOfInput {
  def isAtEnd(watermarkMs: Long): Boolean = watermarkMs >= EventTimes.EndMs

  /** Why no query can go on from a checkpoint. */
  def refusal(root: Any): EventtideException =
    EventtideException("CHECKPOINT_DRAINED", "root" -> root)
}
