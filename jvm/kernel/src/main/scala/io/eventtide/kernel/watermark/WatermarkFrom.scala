package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion

/** Follows the marks in the rows: watermarks that the source has written into a column.
  *
  *   - '''Guarantee:''' the watermark is the highest mark so far. It may be above the times of
  *     the rows.
  *   - '''Units:''' marks are in the unit of event time. The clock has no effect.
  *   - '''Edges:''' no watermark before the first mark. A mark counts at the end of its batch, also
  *     the mark of a late row.
  *   - '''Restart:''' continues from the saved watermark, also with another column.
  *   - '''Source:''' Flink's punctuated `WatermarkGenerator`.
  *
  * @param column the name of the column with the marks, which is null in rows without a mark
  */
final class WatermarkFrom(val column: String) extends PolicyKind(WatermarkFrom.Name) {
  override def texts: Seq[(String, String)] = Seq(WatermarkFrom.Column -> column)

  override def onlyOnDriver: Boolean = true

  def create(spec: PolicySpec): WatermarkPolicy = new MarkPolicy
}

object WatermarkFrom {
  val Name = "watermark_from"

  /** The name of the parameter. */
  val Column = "column"

  def apply(column: String): PolicySpec = PolicySpec(new WatermarkFrom(column))
}

/** The instance of `WatermarkFrom`.
  *
  *   - '''Restart:''' format 1: known, watermark.
  */
private[watermark] final class MarkPolicy extends WatermarkPolicy {
  private val highest = new MonotonicMax

  def known: Boolean = highest.known

  def watermark: Long = highest.value

  def observe(now: Long, ts: Long): Unit = ()

  override def observeMark(mark: Long): Unit = highest.raise(mark): Unit

  override def firstRowFor(target: Long): Long = Long.MaxValue // rows without marks do not move it

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    highest.save(out)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "marks", known = 1)
    highest.restore(in)
  }
}
