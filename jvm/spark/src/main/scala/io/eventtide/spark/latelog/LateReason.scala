package io.eventtide.spark.latelog

import io.eventtide.kernel.window.LateRule

/** The reason why a row is not in the windows.
  *
  * @param name
  *   the value in the column `_reason`
  */
sealed abstract class LateReason(val name: String) extends Serializable {
  override def toString: String = name
}

object LateReason {

  /** All reasons. */
  val all: Seq[LateReason] =
    Seq(BehindWatermark, FrameClosed, WindowClosed, Future, BadTime, BadGap)

  /** The reasons that depend on the watermark: with a lower watermark the row would have been on
    * time.
    */
  val tooLate: Seq[LateReason] = Seq(BehindWatermark, FrameClosed, WindowClosed)

  /** The number of rows that were too late, from counts by reason name. */
  private[spark] def countTooLate(rows: collection.Map[String, Long]): Long =
    tooLate.map(reason => rows.getOrElse(reason.name, 0L)).sum

  /** The reason of a row that is late by a rule. */
  def of(rule: LateRule): LateReason = rule match {
    case LateRule.BehindWatermark => BehindWatermark
    case LateRule.FrameClosed => FrameClosed
    case LateRule.WindowClosed => WindowClosed
  }

  /** The row's event time is below the watermark. */
  case object BehindWatermark extends LateReason("behind_watermark")

  /** The row's frame is closed. */
  case object FrameClosed extends LateReason("frame_closed")

  /** Every window of the row is closed. */
  case object WindowClosed extends LateReason("window_closed")

  /** The row's event time is too far ahead of the clock. */
  case object Future extends LateReason("future")

  /** The row has no usable event time. */
  case object BadTime extends LateReason("bad_time")

  /** The row has no usable session gap. */
  case object BadGap extends LateReason("bad_gap")
}
