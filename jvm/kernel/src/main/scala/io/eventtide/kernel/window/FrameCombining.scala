package io.eventtide.kernel.window

/** How the frames of a sliding window are combined; the format of a saved key depends on it. */
sealed trait FrameCombining

object FrameCombining {

  /** One total, from which the frames that leave are deducted; the buffers support it. */
  case object Deduct extends FrameCombining

  /** Two stacks. */
  case object Merge extends FrameCombining

  /** Two stacks, for keys that were saved under `Deduct`: they are read in that format, and written
    * in the format of `Merge`.
    */
  case object MergeDeducted extends FrameCombining

  def apply(deducts: Boolean): FrameCombining = if (deducts) Deduct else Merge
}
