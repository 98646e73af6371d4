package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.state.InputColumns

/** Rows that are not aggregated upstream: the keys, the event time in microseconds, and other
  * columns in use.
  *
  * @param input
  *   the rows' columns
  * @param filters
  *   the filter of each function
  * @param logged
  *   the logged part of a late row: its columns, and the names of its substream and its key
  * @param guard
  *   the limit above which a future row is late
  * @param clamp
  *   the limit to which the time of a future row is clamped
  * @param order
  *   the column by which the rows of a key must be ordered; None for any order
  * @param groups
  *   the key columns of the group whose keys share a watermark; None if each key has a watermark,
  *   or all use the query's
  * @param stored
  *   the stored part of a row, for windows that retain rows; None if rows are merged on arrival
  * @param gap
  *   the column with the session gap of the row; None if all rows have one gap, or need none
  */
private[spark] final case class RowInputSpec(
    input: Seq[Attribute],
    filters: Seq[Option[Expression]],
    logged: Seq[Expression],
    guard: Option[FutureGuard],
    clamp: Option[FutureGuard],
    order: Option[Attribute],
    groups: Option[Seq[Attribute]],
    stored: Option[Seq[Expression]],
    gap: Option[Attribute]
) {

  /** The input of the functions: incoming rows, or the stored part of them. */
  def columns: InputColumns = {
    val kept = stored.map(_.map {
      case column: Attribute => column
      case folded => AttributeReference("folded", folded.dataType, folded.nullable)()
    })
    InputColumns(kept.getOrElse(input), filters)
  }
}
