package io.eventtide.spark.exec

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

/** Finds the substream of each row of one partition: one map access, or none while it stays. */
private[exec] abstract class SubstreamFinder {
  def rowsOf(row: InternalRow): TimeExtremes
}

private[exec] final class OneSubstream(rows: TimeExtremes) extends SubstreamFinder {
  override def rowsOf(row: InternalRow): TimeExtremes = rows
}

/** By one column of whole numbers, which are their own hashes. */
private[exec] abstract class ByNumber(ordinal: Int, discover: InternalRow => TimeExtremes)
    extends SubstreamFinder {
  private val known = mutable.LongMap.empty[TimeExtremes]
  private var ofNull: TimeExtremes = _
  private var lastKey = 0L
  private var last: TimeExtremes = _ // null before the first row

  protected def key(row: InternalRow): Long

  override final def rowsOf(row: InternalRow): TimeExtremes =
    if (row.isNullAt(ordinal)) rowsOfNull(row)
    else {
      val number = key(row)
      if (number != lastKey || last == null) { last = find(number, row); lastKey = number }
      last
    }

  private def find(number: Long, row: InternalRow): TimeExtremes = {
    val found = known.getOrNull(number)
    if (found != null) found
    else {
      val added = discover(row)
      known(number) = added
      added
    }
  }

  private def rowsOfNull(row: InternalRow): TimeExtremes = {
    if (ofNull == null) ofNull = discover(row)
    ofNull
  }
}

private[exec] final class ByInt(ordinal: Int, discover: InternalRow => TimeExtremes)
    extends ByNumber(ordinal, discover) {
  override protected def key(row: InternalRow): Long = row.getInt(ordinal).toLong
}

private[exec] final class ByLong(ordinal: Int, discover: InternalRow => TimeExtremes)
    extends ByNumber(ordinal, discover) {
  override protected def key(row: InternalRow): Long = row.getLong(ordinal)
}

/** By one column of text. */
private[exec] final class ByText(ordinal: Int, discover: InternalRow => TimeExtremes)
    extends SubstreamFinder {
  private val known = new TextTable[TimeExtremes]

  private var ofNull: TimeExtremes = _

  override def rowsOf(row: InternalRow): TimeExtremes =
    if (row.isNullAt(ordinal)) rowsOfNull(row)
    else {
      val text = row.getUTF8String(ordinal)
      val found = known.find(text)
      if (found != null) found else known.add(text, discover(row))
    }

  private def rowsOfNull(row: InternalRow): TimeExtremes = {
    if (ofNull == null) ofNull = discover(row)
    ofNull
  }
}

/** By anything else, copied together as Spark does it for grouping. */
private[exec] final class ByRow(key: UnsafeProjection, discover: InternalRow => TimeExtremes)
    extends SubstreamFinder {
  private val known = new java.util.HashMap[UnsafeRow, KnownKey]
  private var last: KnownKey = _

  override def rowsOf(row: InternalRow): TimeExtremes = {
    val found = key(row) // the projection's own row: copied only when it is new
    if (last == null || found != last.key) {
      last = known.get(found)
      if (last == null) last = add(found.copy(), row)
    }
    last.rows
  }

  private def add(copied: UnsafeRow, row: InternalRow): KnownKey = {
    val added = new KnownKey(copied, discover(row))
    known.put(copied, added)
    added
  }
}

private final class KnownKey(val key: UnsafeRow, val rows: TimeExtremes)
