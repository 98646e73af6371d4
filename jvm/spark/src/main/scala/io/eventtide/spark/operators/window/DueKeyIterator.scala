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
  private var entries: StateStoreIterator[UnsafeRowPair] = _
  private var nextKey: UnsafeRow = _
  private var ended = false

  def hasNext: Boolean = {
    while (nextKey == null && !ended) look()
    nextKey != null
  }

  def next(): UnsafeRow = {
    if (!hasNext) throw new NoSuchElementException
    val key = nextKey
    nextKey = null
    key
  }

  private def look(): Unit = {
    if (entries == null) entries = index.entries
    if (!entries.hasNext) ended = true
    else {
      val entry = entries.next()
      if (index.numberOf(entry.key) > limit) ended = true
      else if (!seen.contains(entry.value.getLong(0))) nextKey = index.keyOf(entry.key).copy()
    }
  }

  def close(): Unit = if (entries != null) entries.close()
}
