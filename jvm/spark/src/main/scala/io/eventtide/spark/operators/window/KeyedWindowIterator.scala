package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.kernel.RecordTooLarge
import io.eventtide.kernel.watermark.PolicyFailure
import io.eventtide.spark.EventtideException
import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.operators.{LookaheadIterator, WindowOperatorSpec}
import io.eventtide.spark.policies.PolicyErrors
import io.eventtide.spark.spi.SubstreamName

/** Processes the windows of one partition, one key at a time: adds the key's rows, emits its
  * results, and leaves the key. The keys come from a micro-batch and its state, from a batch query,
  * or only from state.
  */
private[window] abstract class KeyedWindowIterator(spec: WindowOperatorSpec)
    extends LookaheadIterator[InternalRow] {
  private var opened: UnsafeRow = _ // the key whose results are being emitted; null between keys
  private var found = false
  private var ended = false

  protected def windows: KeyedWindowOperator

  /** Opens the next key with `select`, adds its rows and closes it. If more keys may follow, it may
    * open no key; returns false after the last key.
    */
  protected def openNext(): Boolean

  /** Adds more rows of the key, after its previous results have been emitted; returns false if
    * there are no more rows.
    */
  protected def continueKey(): Boolean

  /** Called when all results of the key have been emitted. */
  protected def leaveKey(): Unit

  /** The current key. */
  protected final def key: UnsafeRow = opened

  protected final def select(key: UnsafeRow): Unit = opened = key

  /** Leaves the key without results. */
  protected final def deselect(): Unit = opened = null

  protected def current: InternalRow = windows.row(opened)

  protected final def advance(): Boolean = {
    found = false
    while (!found && !ended) {
      try step()
      catch {
        case large: RecordTooLarge => throw tooLarge(large)
        case failure: PolicyFailure => throw PolicyErrors.of(failure)
      }
    }
    found
  }

  private def step(): Unit =
    if (opened == null) ended = !openNext()
    else {
      found = windows.next()
      if (!found && !continueKey()) {
        leaveKey()
        opened = null
      }
    }

  /** Adds rows of the key, up to `most`, and closes it. */
  protected final def addRows(rows: KeyedFrameReader, most: Int): Unit = {
    var left = most
    while (left > 0 && rows.isSameKey) {
      windows.add(rows)
      rows.advance()
      left -= 1
    }
    windows.close()
  }

  private def tooLarge(large: RecordTooLarge): EventtideException = {
    val types = spec.keys.map(_.dataType)
    val name = if (types.isEmpty) "none" else SubstreamName.of(types)(opened.toSeq(types))
    EventtideException("KEY_TOO_LARGE", "key" -> name, "limit" -> large.limit)
  }
}
