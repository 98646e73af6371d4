package io.eventtide.spark.checkpoint

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.EventTimes

/** The mark of a drained query in its checkpoint: the highest possible watermark. */
private[spark] object EndOfInput {
  def isAtEnd(watermarkMs: Long): Boolean = watermarkMs >= EventTimes.EndMs

  /** The error for a query that starts from a drained checkpoint. */
  def refusal(root: Any): EventtideException =
    EventtideException("CHECKPOINT_DRAINED", "root" -> root)
}
