package io.eventtide.spark.exec

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}

/** Rows that come sorted by a number of their keys, with those of each key together.
  *
  * Of different keys with one number, of which there are hardly any, the first goes on, and the rows
  * of the others are set aside until the number is through.
  *
  * @param numberOf
  *   by which they are sorted
  * @param keyOf
  *   the key, good until the next is asked for
  */
private[exec] final class KeysTogether(
    input: Iterator[InternalRow],
    numberOf: InternalRow => Long,
    keyOf: InternalRow => UnsafeRow
) extends FoundAhead[InternalRow] {
  private var row: InternalRow = _
  private var rowKey: UnsafeRow = _
  private var number = 0L
  private var key: UnsafeRow = _ // null before the first row
  private val aside = mutable.LinkedHashMap.empty[UnsafeRow, mutable.ArrayBuffer[InternalRow]]

  /** What goes first now: rows that were set aside, then the one that came when they were through. */
  private var before: Iterator[InternalRow] = Iterator.empty

  protected def current: InternalRow = row

  /** The key of the row that was given last, good until the next is looked for. */
  def keyOfRow: UnsafeRow = rowKey

  protected def advance(): Boolean = {
    var found = takeBefore()
    while (!found && input.hasNext) found = judge(input.next())
    if (!found && aside.nonEmpty) {
      before = setAside()
      found = takeBefore()
    }
    found
  }

  private def takeBefore(): Boolean = {
    val found = before.hasNext
    if (found) {
      row = before.next()
      rowKey = keyOf(row)
    }
    found
  }

  /** Whether a row that comes, or one that has waited for it, is the next. */
  private def judge(next: InternalRow): Boolean = {
    val nextKey = keyOf(next)
    if (key != null && nextKey == key) turnTo(next)
    else {
      val nextNumber = numberOf(next)
      if (key == null || nextNumber != number) begin(next, nextKey, nextNumber)
      else {
        val rows = aside.getOrElseUpdate(nextKey.copy(), mutable.ArrayBuffer.empty)
        rows += next.copy()
        false
      }
    }
  }

  private def turnTo(next: InternalRow): Boolean = {
    row = next
    rowKey = key
    true
  }

  private def begin(next: InternalRow, nextKey: UnsafeRow, nextNumber: Long): Boolean = {
    number = nextNumber
    if (key == null) key = nextKey.copy() else key.copyFrom(nextKey)
    if (aside.nonEmpty) before = setAside() ++ Iterator(next)
    takeBefore() || turnTo(next)
  }

  private def setAside(): Iterator[InternalRow] = {
    val rows = aside.values.toSeq.flatten
    aside.clear()
    rows.iterator
  }
}

private[exec] object KeysTogether {

  /** Rows that begin with their keys, sorted by `KeyOrder`. */
  def apply(rows: Iterator[InternalRow], keys: Seq[Attribute]): KeysTogether = {
    val number = UnsafeProjection.create(Seq(KeyOrder(keys)), keys)
    val key = RowFrames.projection(keys, 0)
    new KeysTogether(rows, row => number(row).getLong(0), key(_))
  }
}
