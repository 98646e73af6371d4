package io.eventtide.spark.options

import io.eventtide.kernel.time.FrameGrid

/** The changes of a window between runs on its checkpoint: other aggregates, other sizes. */
private[spark] object WindowHistory {

  /** A window without its history. */
  def presentOf(window: Structure): Structure =
    StoredFrames.presentOf(AggregateHistory.presentOf(window))

  /** The parts of two windows that must be the same for one to continue from the state of the
    * other.
    */
  def lasting(stored: Structure, window: Structure): (Structure, Structure) = {
    def part(of: Structure) = {
      val lasting = AggregateHistory.lastingOf(of)
      if (StoredFrames.fits(stored, window)) StoredFrames.lastingOf(lasting)
      else StoredFrames.presentOf(lasting)
    }
    (part(stored), part(window))
  }

  /** A window of a run on the state of `stored`, with its history.
    *
    * @param closed
    *   the last closed boundary of a grid; None if no window has closed
    */
  def after(
      stored: Structure,
      window: Structure,
      closed: FrameGrid => Option[Long]
  ): Structure =
    window ++ AggregateHistory.after(stored, window) ++ StoredFrames.after(stored, window, closed)

  /** The differences between `stored` and `window`, in words. */
  def changes(stored: Structure, window: Structure): Seq[String] = {
    val sizes = StoredFrames.changes(stored, window)
    sizes.map { case (name, was, is) => s"$name: $was, from now on $is" } ++
      AggregateHistory.changes(stored, window)
  }
}
