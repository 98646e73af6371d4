package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Reads the entries that are packed in a column, in place; there is at least one.
  *
  * @param column
  *   the ordinal of the column
  */
private[operators] abstract class PackedReader(column: Int) extends FrameReader {
  protected var bytes: AnyRef = _

  /** The place of the current entry. */
  protected var at = 0L
  private var end = 0L

  /** The size of the current entry. */
  protected def entryBytes: Int

  def begin(row: InternalRow): Unit = {
    val packed = row.asInstanceOf[UnsafeRow]
    val place = packed.getLong(column)
    bytes = packed.getBaseObject
    at = packed.getBaseOffset + (place >>> 32)
    end = at + place.toInt
  }

  def next(): Boolean = {
    at += entryBytes
    at < end
  }
}
