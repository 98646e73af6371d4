package io.eventtide.kernel.rows

import java.util.BitSet

import io.eventtide.kernel.window.{BlockStore, ByteSink, ByteSource}

/** The windows of one key over its rows, each of which is kept once, whatever they overlap.
  *
  * Used for one key after another: `begin` or `read`, then `open`, then `add`, then `next` until it
  * says no, then `evict`, then `write`. A row is in a window by its slot in `log`.
  *
  *   - '''Guarantee:''' a row that is not behind the watermark is in all of its windows; nothing is
  *     given before there is a watermark. Windows come by ascending end.
  *   - '''Units:''' those of the spec.
  *   - '''Edges:''' empty windows are never given.
  *   - '''Restart:''' `write` and `read` keep all of it; the record has a version.
  *   - '''Source:''' Storm's `WindowManager` with its trigger and eviction policies for watermarks. Where
  *     Storm loses a row, this does not: a slide of time waits for a watermark above the window's end,
  *     rows are looked at wherever they stand, and every row counts once.
  */
abstract class StormWindows {

  /** The rows that windows are made of. */
  def log: RowLog

  /** Begins a key that has no state. */
  def begin(): Unit

  /** Says which watermark the batch ends with; None while there is none. */
  def open(watermark: Option[Long]): Unit

  /** No more rows are expected at all: every window that has been begun is given. */
  def openAll(): Unit

  /** Takes a row that is not late; false when it is in no window. */
  def add(ts: Long, row: RowContent): Boolean

  /** Turns to the next window; false when all that are due have been given. */
  def next(): Boolean

  /** The window's last instant. */
  def end: Long

  /** Its rows, by slot; good until the next one. */
  def members: BitSet

  /** Those of the window before the first of this batch; asked for when that has been turned to. */
  def before: BitSet

  /** The lowest slot that `before` or a window of this batch may have. */
  def firstSlot: Int

  /** The lowest slot that the window, or a later one of this batch, may have. */
  def lowestSlot: Int

  /** Whether there are rows that may still be in a window for the first time; asked when all windows
    * have been given.
    */
  def hasPending: Boolean

  /** The watermark at which the key has something to do without rows: to give a window, or to find
    * that none of its rows is pending any more. `RowLog.Never` for none.
    */
  def due: Long

  /** All windows have been given: lets go of rows that are in none to come. */
  def evict(): Unit

  /** Lets go of all rows. */
  def forget(): Unit

  /** Whether the key is as one without state; asked after `evict`. */
  def isEmpty: Boolean

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

object StormWindows {
  val Never: Long = RowLog.Never

  /** @param keepsLast
    *   whether the rows of a window are kept until the next is given, for `before`
    * @param rows
    *   where blocks of rows are kept
    * @param waiting
    *   where those are kept that no watermark has reached, if they are kept apart
    * @param countsAtOnce
    *   whether rows count as they come, for a slide of rows: those of processing time do
    */
  def apply(
      spec: StormSpec,
      keepsLast: Boolean,
      rows: BlockStore,
      waiting: BlockStore,
      limits: RowLimits = RowLimits(),
      countsAtOnce: Boolean = false
  ): StormWindows = {
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

  private[rows] val Version = 1
}
