package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.spark.state.TimerIndex

/** The keys of an index whose timers have expired, in a batch in which the limit moves. */
private[window] final class ExpiredTimers(index: TimerIndex) {
  private val noKeys = new KeyIdBitmap
  private var expired: DueKeyIterator = _ // null while no timer has expired

  /** Whether there is a next key. The index has no key before `lowest`, so this costs nothing until a
    * timer up to the limit expires.
    */
  def hasNext(limit: Long): Boolean = {
    if (expired == null && index.lowest <= limit)
      expired = new DueKeyIterator(index, limit, noKeys)
    val found = expired != null && expired.hasNext
    if (!found) end()
    found
  }

  def next(): UnsafeRow = expired.next()

  private def end(): Unit = if (expired != null) {
    expired.close()
    expired = null
    index.beginAtHead()
  }
}
