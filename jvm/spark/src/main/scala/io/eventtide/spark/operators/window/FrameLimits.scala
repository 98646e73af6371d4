package io.eventtide.spark.operators.window

/** The boundaries of frames that the watermark has reached. */
private[window] trait FrameLimits {

  /** The boundary up to which windows had closed before this batch. */
  def passed: Long = Long.MinValue

  /** The boundary up to which windows have been emitted, possibly without saving the key. */
  var emitted: Long = Long.MinValue

  /** The boundary up to which windows close when the rows so far have been added. */
  def closing: Long

  /** The time below which rows are late. */
  def lateBelow: Long = Long.MinValue
}

private[window] final class TaskFrameLimits(task: WindowTaskSpec) extends FrameLimits {
  private val late = new WatermarkLimit(task.spec.settings.spec.lateBelow)

  override def passed: Long = task.passed
  override def closing: Long = task.closing
  override def lateBelow: Long = late.of(task.batch.before)
}

/** A limit that depends on a watermark, which seldom changes; the lowest number without one. */
private[window] final class WatermarkLimit(limitOf: Long => Long) extends Serializable {
  private var watermark = Option.empty[Long]
  private var limit = Long.MinValue

  def of(current: Option[Long]): Long = {
    if (current ne watermark) {
      watermark = current
      limit = current.fold(Long.MinValue)(limitOf)
    }
    limit
  }
}
