package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}

import io.eventtide.spark.state.TimerIndex

/** The keys in an index up to a limit, except the keys in `seen`.
  *
  * The index is read lazily, as a snapshot at the first read: keys that are saved later in the
  * batch are not returned again.
  */
private[window] final class DueKeyIterator(
    index: TimerIndex,
    limit: Long,
    seen: KeyIdBitmap
) extends Iterator[UnsafeRow] {
  private var entries: StateStoreIterator[UnsafeRowPair] = _ // null before the first read

  private lazy val keys: Iterator[UnsafeRow] = {
    entries = index.entries
    entries
      .takeWhile(entry => index.numberOf(entry.key) <= limit)
      .filterNot(entry => seen.contains(entry.value.getLong(0)))
      .map(entry => index.keyOf(entry.key).copy())
  }

  def hasNext: Boolean = keys.hasNext

  def next(): UnsafeRow = keys.next()

  def close(): Unit = if (entries != null) entries.close()
}
