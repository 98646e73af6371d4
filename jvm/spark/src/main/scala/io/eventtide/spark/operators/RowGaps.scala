package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.InternalRow

/** The session gaps of single rows, in microseconds.
  *
  * @param at
  *   the ordinal of the gap; null for a row without a usable gap
  * @param latest
  *   the latest end of the time that a row covers
  */
private[operators] final class RowGaps(at: Int, latest: Long) {
  def isMissing(row: InternalRow): Boolean = row.isNullAt(at)

  def of(row: InternalRow): Long = row.getLong(at)

  /** Whether Spark can display the time that a row at `micros` covers. */
  def fits(micros: Long, row: InternalRow): Boolean = of(row) <= latest - micros
}

private[operators] object RowGaps {

  /** None if all rows have one gap, or need none. */
  def apply(spec: WindowOperatorSpec): Option[RowGaps] =
    for {
      rows <- spec.rows
      gap <- rows.gap
    } yield {
      val at = rows.input.indexWhere(_.exprId == gap.exprId)
      new RowGaps(at, spec.settings.times.highest)
    }
}
