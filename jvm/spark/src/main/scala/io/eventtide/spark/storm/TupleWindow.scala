package io.eventtide.spark.storm

import java.time.Instant

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row

/** The rows of a window, with the names of Storm's `TupleWindow`.
  *
  *   - '''Guarantee:''' rows are in the order in which they were read; if windows slide by rows, in
  *     the order in which they were counted.
  *   - '''Units:''' the start is exclusive, the end inclusive, both in UTC.
  *   - '''Edges:''' a window is valid only during the call of its function, and while the iterator
  *     that the function returned is read.
  *   - '''Restart:''' `getNew` and `getExpired` compare with the previous window of the key, also of
  *     an earlier run.
  *
  * @param getStartTimestamp
  *   None for a window with a length in rows
  * @param key
  *   the values of the `groupBy` columns; empty without keys
  */
final class TupleWindow private[storm] (
    rows: HeldRows,
    now: RowRanges,
    before: RowRanges,
    val getStartTimestamp: Option[Instant],
    val getEndTimestamp: Instant,
    val key: Row
) {

  /** All rows of the window. */
  def get: Seq[Row] = rows.take(now)

  /** The rows that were not in the key's previous window. */
  def getNew: Seq[Row] = rows.take(now.without(before))

  /** The rows of the key's previous window that are not in this window. */
  def getExpired: Seq[Row] = rows.take(before.without(now))

  /** As `get`, for Java. */
  def getList: java.util.List[Row] = get.asJava

  /** As `getNew`, for Java. */
  def getNewList: java.util.List[Row] = getNew.asJava

  /** As `getExpired`, for Java. */
  def getExpiredList: java.util.List[Row] = getExpired.asJava

  override def toString: String =
    s"TupleWindow($key${getStartTimestamp.fold("")(start => s" after $start")} up to $getEndTimestamp)"
}
