package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.state.InputColumns

/** Rows that come one by one: the keys, the event time in microseconds, and what else is used.
  *
  * @param input
  *   their columns
  * @param filters
  *   which rows each function takes
  * @param logged
  *   what is kept of a late row: its columns, and the names of its substream and its key
  * @param guard
  *   by which rows from the future are late too
  * @param clamp
  *   by which rows from the future count as of the latest time that is not
  * @param order
  *   the column by which the rows of a key have to come; None for any order
  * @param groups
  *   the keys' columns that keys with one watermark have in common; None where each has its own, or
  *   that of the query
  * @param stored
  *   what is kept of a row for its windows; None where rows are merged as they come
  */
private[spark] final case class RowInputSpec(
    input: Seq[Attribute],
    filters: Seq[Option[Expression]],
    logged: Seq[Expression],
    guard: Option[FutureGuard],
    clamp: Option[FutureGuard],
    order: Option[Attribute],
    groups: Option[Seq[Attribute]],
    stored: Option[Seq[Expression]]
) {

  /** The rows that functions take: those that come, or what was kept of them. */
  def columns: InputColumns = {
    val kept = stored.map(_.map {
      case column: Attribute => column
      case folded => AttributeReference("folded", folded.dataType, folded.nullable)()
    })
    InputColumns(kept.getOrElse(input), filters)
  }
}
