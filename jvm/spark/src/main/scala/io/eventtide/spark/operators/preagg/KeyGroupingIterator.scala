package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeRow}
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.operators.LookaheadIterator
import io.eventtide.spark.state.Projections

/** Groups rows by key; the input is sorted by a number derived from the key.
  *
  * Different keys rarely share a number. If they do, the rows of the first key are returned first.
  * The rows of the other keys wait until all rows with the number have been read. Then each pass
  * over the waiting rows returns the rows of one key. Waiting rows spill to disk, so a hot key may
  * be among them.
  *
  * @param numberOf
  *   the sort number of a row
  * @param keyOf
  *   the key of a row, valid until the next call
  * @param newRows
  *   creates a buffer for waiting rows; not called if no two keys share a number
  */
private[preagg] final class KeyGroupingIterator(
    input: Iterator[InternalRow],
    numberOf: InternalRow => Long,
    keyOf: InternalRow => UnsafeRow,
    newRows: () => ExternalAppendOnlyUnsafeRowArray
) extends LookaheadIterator[InternalRow] {
  private var row: InternalRow = _
  private var rowKey: UnsafeRow = _
  private var number = 0L
  private var key: UnsafeRow = _ // null before the first row
  private var ahead: InternalRow = _ // the first row of the next number, while rows wait; else null

  private lazy val rooms = Array.fill(2)(newRows()) // one to read, one to write
  private var writes = 0
  private var waits = false
  private var pass: Iterator[InternalRow] = Iterator.empty
  private var isFirst = false // whether the next row starts a pass and sets its key

  protected def current: InternalRow = row

  /** The key of the last returned row, valid until the next `hasNext` or `next`. */
  def keyOfRow: UnsafeRow = rowKey

  protected def advance(): Boolean = {
    var found = false
    var more = true
    while (!found && more) {
      if (pass.hasNext) found = judgeWaiting(pass.next())
      else if (ahead == null && input.hasNext) found = judge(input.next())
      else if (waits) beginPass()
      else if (ahead != null) found = beginAhead()
      else more = false
    }
    found
  }

  /** Whether an input row is the next to return. */
  private def judge(next: InternalRow): Boolean = {
    val nextKey = keyOf(next)
    if (key != null && nextKey == key) give(next)
    else {
      val nextNumber = numberOf(next)
      if (key != null && nextNumber == number) await(next)
      else if (!waits) begin(next, nextKey, nextNumber)
      else {
        ahead = next
        false
      }
    }
  }

  /** Whether a waiting row is the next to return. */
  private def judgeWaiting(next: InternalRow): Boolean = {
    val nextKey = keyOf(next)
    if (isFirst) {
      isFirst = false
      key.copyFrom(nextKey)
      give(next)
    } else if (nextKey == key) give(next)
    else await(next)
  }

  private def give(next: InternalRow): Boolean = {
    row = next
    rowKey = key
    true
  }

  private def await(next: InternalRow): Boolean = {
    rooms(writes).add(next.asInstanceOf[UnsafeRow])
    waits = true
    false
  }

  private def begin(next: InternalRow, nextKey: UnsafeRow, nextNumber: Long): Boolean = {
    number = nextNumber
    if (key == null) key = nextKey.copy() else key.copyFrom(nextKey)
    give(next)
  }

  private def beginPass(): Unit = {
    val reads = writes
    writes = 1 - writes
    rooms(writes).clear()
    pass = rooms(reads).generateIterator()
    isFirst = true
    waits = false
  }

  private def beginAhead(): Boolean = {
    pass = Iterator.empty
    rooms.foreach(_.clear())
    val next = ahead
    ahead = null
    begin(next, keyOf(next), numberOf(next))
  }
}

private[preagg] object KeyGroupingIterator {

  /** The maximum number of waiting rows on the heap; more rows are kept in pages that can spill. */
  private val RowsAtHand = 4096
  private val BytesAtHand = 4L << 20

  /** Groups rows that begin with their keys and are sorted by `number`. */
  def apply(
      rows: Iterator[InternalRow],
      keys: Seq[Attribute],
      number: Expression
  ): KeyGroupingIterator = {
    val numbers = Projections.unsafe(Seq(number), keys)
    val key = FrameReader.projection(keys, 0)
    new KeyGroupingIterator(
      rows,
      row => numbers(row).getLong(0),
      key(_),
      () => spilling(SQLConf.get)
    )
  }

  private def spilling(conf: SQLConf): ExternalAppendOnlyUnsafeRowArray =
    new ExternalAppendOnlyUnsafeRowArray(
      RowsAtHand,
      BytesAtHand,
      conf.windowExecBufferSpillThreshold,
      conf.windowExecBufferSpillSizeThreshold
    )
}
