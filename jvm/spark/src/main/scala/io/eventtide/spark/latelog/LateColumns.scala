package io.eventtide.spark.latelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow}
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.kernel.time.Clamped

/** The columns that a batch adds to a late row, in the order of `LateSchema.Added`. The instance is
  * reused for every row.
  */
private[latelog] final class LateColumns(batchId: Long, watermarkMicros: Option[Long]) {
  private val added = new GenericInternalRow(LateSchema.Added.length - LateColumns.First)
  private val joined = new JoinedRow
  private val reasons = scala.collection.mutable.HashMap.empty[LateReason, UTF8String]

  added.update(LateColumns.BatchId, batchId)

  private var watermark = Option.empty[Long]
  judgedBy(watermarkMicros)

  /** Sets the watermark that the following rows are compared with. */
  def judgedBy(watermarkMicros: Option[Long]): Unit = {
    watermark = watermarkMicros
    watermark.fold(added.setNullAt(LateColumns.Watermark))(added.update(LateColumns.Watermark, _))
  }

  def at(eventTimeMicros: Long, windowsMissed: Option[Int]): Unit = {
    added.update(LateColumns.EventTime, eventTimeMicros)
    windowsMissed.fold(added.setNullAt(LateColumns.WindowsMissed))(
      added.update(LateColumns.WindowsMissed, _)
    )
    val lateBy = watermark.map(Clamped.subtract(_, eventTimeMicros)).filter(_ > 0)
    lateBy.fold(added.setNullAt(LateColumns.LateBy))(added.update(LateColumns.LateBy, _))
  }

  def withoutTime(): Unit =
    Seq(LateColumns.EventTime, LateColumns.WindowsMissed, LateColumns.LateBy)
      .foreach(added.setNullAt)

  def beside(row: InternalRow, reason: LateReason): InternalRow = {
    val text = reasons.getOrElseUpdate(reason, UTF8String.fromString(reason.name))
    added.update(LateColumns.Reason, text)
    joined(row, added)
  }
}

private object LateColumns {
  private val First = LateSchema.Added.fieldIndex("_event_time")

  private def column(name: String): Int = LateSchema.Added.fieldIndex(name) - First

  private val EventTime = column("_event_time")
  private val Watermark = column("_watermark")
  private val LateBy = column("_late_by")
  private val Reason = column("_reason")
  private val WindowsMissed = column("_windows_missed")
  private val BatchId = column("_batch_id")
}
