package io.eventtide.kernel.window

/** The windows of one key that are open, whatever decides where they start and end.
  *
  * Used for one key after another: `begin` or `read`, then `add`, then `next` until it says no, then
  * `write`.
  *
  *   - '''Guarantee:''' a row is late, or in all of its windows that are open; a window with rows gives
  *     one result when it closes.
  *   - '''Units:''' those of the rows' times.
  *   - '''Restart:''' `write` and `read` keep all of it.
  */
trait WindowSet {

  /** Begins a key without state. */
  def begin(): Unit

  /** Rows are late by this watermark from here on; None while there is none. */
  def judgeBy(watermark: Option[Long]): Unit

  /** Adds what is in `buffer`, which stays the caller's; false when the row is late. */
  def add(ts: Long, buffer: Int): Boolean

  /** Whether a row that is late so far may be in time once other rows are here. */
  def judgesTogether: Boolean = false

  /** A number that lies from the start of each window of the row that was added last up to its end. */
  def mark: Long

  /** Marks that are less apart are of the same windows. */
  def apart: Long

  /** Whether a window is open that has a row with this mark. */
  def isOpen(mark: Long): Boolean

  /** Turns to the next window that is closed at `watermark`; false when all have been given. */
  def next(watermark: Long): Boolean

  /** Turns to the next window, closed or not; false when none is left, and then nothing is held. */
  def nextOfAll(): Boolean

  /** Where the window starts that was turned to. */
  def start: Long

  /** Where it ends. */
  def end: Long

  /** Its rows as one buffer, good until the next one is turned to. */
  def result: Int

  /** How many results it has given before. */
  def index: Int

  /** An open window, or one that may be open again, has given one result more. */
  def count(start: Long, end: Long): Unit

  /** Forgets how many results windows have given that are closed at `watermark`. */
  def forget(watermark: Long): Unit

  /** Whether there are no rows. */
  def isEmpty: Boolean

  /** The watermark at which the next window closes; `WindowSet.Never` if none does. */
  def due: Long

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

object WindowSet {

  /** When nothing is due. */
  val Never: Long = Long.MaxValue
}
