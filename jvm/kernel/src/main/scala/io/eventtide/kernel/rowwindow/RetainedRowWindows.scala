package io.eventtide.kernel.rowwindow

import java.util.BitSet

import io.eventtide.kernel.window.{BlockStore, ByteSink, ByteSource}

/** The windows of one key over its rows; each row is stored once, even if windows overlap.
  *
  * The instance is reused for one key after another: `begin` or `read`, then `open`, then `add`,
  * then `next` until it returns false, then `evict`, then `write`. Windows refer to rows by their
  * slot in `log`.
  *
  *   - '''Guarantee:''' a row that is not behind the watermark is in all of its windows. No window
  *     is emitted before the first watermark. Windows are emitted in ascending order of end.
  *   - '''Units:''' the unit of the spec.
  *   - '''Edges:''' empty windows are never emitted.
  *   - '''Restart:''' `write` and `read` keep all state; the record has a version.
  *   - '''Source:''' Storm's `WindowManager` with its trigger and eviction policies for watermarks.
  *     Unlike Storm, this does not lose rows: a time slide waits for a watermark above the window's
  *     end, rows are considered regardless of their position, and every row is counted once.
  */
abstract class RetainedRowWindows {

  /** The rows of the windows. */
  def log: RowLog

  /** Begins a key without state. */
  def begin(): Unit

  /** Begins a batch that ends with this watermark; None before the first one. */
  def open(watermark: Option[Long]): Unit

  /** Begins a batch at the end of the input, in which all started windows are emitted. */
  def openAll(): Unit

  /** Adds a row that is not late; returns false if it is in no window. */
  def add(ts: Long, row: RowContent): Boolean

  /** Moves to the next window of the batch; returns false if there is none. */
  def next(): Boolean

  /** The last time in the current window (inclusive). */
  def end: Long

  /** The slots of the current window's rows, valid until the next window. */
  def members: BitSet

  /** The slots of the last window before this batch; valid once `next` has returned true. */
  def before: BitSet

  /** A lower bound for the slots in `before` and in the windows of this batch. */
  def firstSlot: Int

  /** A lower bound for the slots in the current and the later windows of this batch. */
  def lowestSlot: Int

  /** Whether some rows may still enter a window for the first time; call after all windows of the
    * batch have been emitted.
    */
  def hasPending: Boolean

  /** The watermark at which the key has work without rows: a window closes, or none of its rows is
    * pending any more. `RowLog.Never` if there is none.
    */
  def due: Long

  /** Evicts rows that are in no later window; call after all windows have been emitted. */
  def evict(): Unit

  /** Removes all rows. */
  def forget(): Unit

  /** Whether the key needs no state; call after `evict`. */
  def isEmpty: Boolean

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

object RetainedRowWindows {
  val Never: Long = RowLog.Never

  /** @param keepsLast
    *   whether the rows of a window are retained until the next window is emitted, for `before`
    * @param rows
    *   block store for rows
    * @param waiting
    *   block store for rows that the watermark has not reached; used only for a slide of rows
    * @param countsAtOnce
    *   whether a slide of rows counts rows on arrival, as in processing time
    */
  def apply(
      spec: RetainedRowSpec,
      keepsLast: Boolean,
      rows: BlockStore,
      waiting: BlockStore,
      limits: RowLimits = RowLimits(),
      countsAtOnce: Boolean = false
  ): RetainedRowWindows = {
    val log = new RowLog(rows, limits)
    spec.slide match {
      case WindowLength.Time(slide) => new TimeTriggeredWindows(spec.length, slide, keepsLast, log)
      case WindowLength.Rows(slide) =>
        new CountTriggeredWindows(
          spec.length,
          slide,
          keepsLast,
          countsAtOnce,
          log,
          new RowLog(waiting, limits, isNumbered = false)
        )
    }
  }

  private[rowwindow] val Version = 1
}
