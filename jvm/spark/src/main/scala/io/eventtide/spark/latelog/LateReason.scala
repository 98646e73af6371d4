package io.eventtide.spark.latelog

import io.eventtide.kernel.window.LateRule

/** Why a row is not in the windows.
  *
  * @param name
  *   as it stands in the column `_reason`
  */
sealed abstract class LateReason(val name: String) extends Serializable {
  override def toString: String = name
}

object LateReason {

  /** Every reason there is. */
  val all: Seq[LateReason] = Seq(BehindWatermark, FrameClosed, WindowClosed, Future, BadTime)

  /** Those for which there is a watermark that would have been low enough. */
  val tooLate: Seq[LateReason] = Seq(BehindWatermark, FrameClosed, WindowClosed)

  /** How many of the rows were too late, by the names of reasons. */
  private[spark] def countTooLate(rows: collection.Map[String, Long]): Long =
    tooLate.map(reason => rows.getOrElse(reason.name, 0L)).sum

  /** What a row is that is late by a rule. */
  def of(rule: LateRule): LateReason = rule match {
    case LateRule.BehindWatermark => BehindWatermark
    case LateRule.FrameClosed => FrameClosed
    case LateRule.WindowClosed => WindowClosed
  }

  /** Its time is below the watermark. */
  case object BehindWatermark extends LateReason("behind_watermark")

  /** Its frame is closed. */
  case object FrameClosed extends LateReason("frame_closed")

  /** Every window that it belongs to is closed. */
  case object WindowClosed extends LateReason("window_closed")

  /** Its time is too far ahead of the clock. */
  case object Future extends LateReason("future")

  /** It has no usable time. */
  case object BadTime extends LateReason("bad_time")
}
