package io.eventtide.kernel.window

/** The open windows of one key, of any kind.
  *
  * The instance is reused for one key after another: `begin` or `read`, then `add`, then `next`
  * until it returns false, then `write`.
  *
  *   - '''Guarantee:''' a row is either late or in all of its open windows. A window with rows
  *     emits one result when it closes.
  *   - '''Units:''' the unit of the rows' times.
  *   - '''Restart:''' `write` and `read` keep all state.
  */
trait WindowSet {

  /** Begins a key without state. */
  def begin(): Unit

  /** Sets the watermark that decides which rows are late; None before the first one. */
  def judgeBy(watermark: Option[Long]): Unit

  /** Adds the row in `buffer`, which the caller keeps; returns false if the row is late. */
  def add(ts: Long, buffer: Int): Boolean

  /** Whether a row judged late may be on time once other rows have arrived. */
  def judgesTogether: Boolean = false

  /** A number in `[start, end)` of every window of the row that was added last. */
  def mark: Long

  /** The distance below which two marks belong to the same windows. */
  def apart: Long

  /** Whether a window that has a row with this mark is open. */
  def isOpen(mark: Long): Boolean

  /** Moves to the next window that is closed at `watermark`; returns false if there is none. */
  def next(watermark: Long): Boolean

  /** Moves to the next window, closed or not; returns false when the set is empty. */
  def nextOfAll(): Boolean

  /** The start of the current window. */
  def start: Long

  /** The end of the current window. */
  def end: Long

  /** The rows of the current window as one buffer, valid until the next window. */
  def result: Int

  /** The number of earlier results of the current window. */
  def index: Int

  /** Counts one more result of a window that is open or may reopen. */
  def count(start: Long, end: Long): Unit

  /** Discards the result counts of the windows that are closed at `watermark`. */
  def forget(watermark: Long): Unit

  /** Whether there are no rows. */
  def isEmpty: Boolean

  /** The watermark at which the next window closes; `WindowSet.Never` if none does. */
  def due: Long

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

object WindowSet {

  /** The watermark or clock value for "never". */
  val Never: Long = Long.MaxValue
}
