package io.eventtide.spark.operators

import io.eventtide.spark.spi.TaskInputState

/** The query's watermark in a task, in microseconds; None while there is none. */
private[spark] trait TaskWatermark {

  /** The watermark below which rows are late. */
  def before: Option[Long]

  /** The watermark up to which windows close. */
  def after: Option[Long]
}

private[spark] object TaskWatermark {

  /** The watermark of a batch: it moves between batches. */
  final case class OfBatch(before: Option[Long], after: Option[Long])
      extends TaskWatermark
      with Serializable

  val None: TaskWatermark = OfBatch(scala.None, scala.None)
}

/** The query's watermark in a task of real-time mode, which moves within the batch. A row is judged
  * by the watermark that the rows before it have caused.
  */
private[spark] trait RunningWatermark extends TaskWatermark {
  def current: Option[Long]

  override def before: Option[Long] = current
  override def after: Option[Long] = current

  /** Takes a `TimeMarker`.
    *
    * @param now
    *   the time by the query's clock
    * @param isCredited
    *   whether elapsed time counts for policies and idleness
    * @param lateBelow
    *   the time below which rows are late under a watermark
    */
  def take(marker: Array[Byte], now: Long, isCredited: Boolean, lateBelow: Long => Long): Unit

  /** Advances the watermark as far as the time without rows does. */
  def advance(now: Long): Unit

  /** The earliest time at which `advance` may move the watermark. */
  def advancesAt: Long

  /** The state of the policies after the rows so far. */
  def state: TaskInputState
}

/** The query's watermark before a batch of real-time mode. */
private[spark] trait WatermarkStart extends Serializable {

  /** The watermark in a task of the batch. */
  def open(): RunningWatermark
}
