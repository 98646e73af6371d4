package io.eventtide.kernel.window

/** The windows of one key that are open, whatever decides where they start and end.
  *
  * Used for one key after another: `begin` or `read`, then `add`, then `next` until it says no, then
  * `write` unless it is empty.
  *
  *   - '''Guarantee:''' a row is late, or in all of its windows that are open; a window with rows gives
  *     one result.
  *   - '''Units:''' those of the rows' times.
  *   - '''Restart:''' `write` and `read` keep all of it.
  */
trait OpenWindows {

  /** Begins a key without state. */
  def begin(): Unit

  /** Rows are late by this watermark from here on; None while there is none. */
  def judgeBy(watermark: Option[Long]): Unit

  /** Adds what is in `buffer`, which stays the caller's; false when the row is late. */
  def add(ts: Long, buffer: Int): Boolean

  /** Turns to the next window that is closed at `watermark`; false when all have been given. */
  def next(watermark: Long): Boolean

  /** Turns to the next window, closed or not; false when none is left. */
  def nextOfAll(): Boolean

  /** Where the window starts that was turned to. */
  def start: Long

  /** Where it ends. */
  def end: Long

  /** Its rows as one buffer, good until the next one is turned to. */
  def result: Int

  def isEmpty: Boolean

  /** Windows that end at this time or before are closed at `watermark`. */
  def closed(watermark: Long): Long

  /** The watermark at which the next window closes; `OpenWindows.Never` if none does. */
  def due: Long

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

object OpenWindows {

  /** When nothing is due. */
  val Never: Long = Long.MaxValue
}
