package io.eventtide.kernel.window

/** The windows of one key, of any kind: which windows a row belongs to, and their content.
  *
  * The instance is reused for one key after another: `begin` or `read`, then for each batch
  * `beginBatch`, `add`, the windows with results, and `settle`; then `write`.
  *
  *   - '''Guarantee:''' a row is either late or in all of its windows that can still change. A
  *     window with rows is emitted when it closes, and again for rows that it accepts later.
  *   - '''Units:''' the unit of the rows' times.
  *   - '''Restart:''' `write` and `read` keep all state.
  */
trait WindowSet {

  /** Begins a key without state. */
  def begin(): Unit

  /** Begins a batch.
    *
    * @param watermark the watermark before the batch, which decides which rows are late and which
    *   windows have closed; None before the first one
    */
  def beginBatch(watermark: Option[Long]): Unit

  /** Adds the row in `buffer`, which the caller keeps; returns false if the row is late. */
  def add(ts: Long, buffer: Int): Boolean

  /** As `add`, for a row with its own session gap. */
  def add(ts: Long, gap: Long, buffer: Int): Boolean =
    throw new IllegalStateException("a row with a gap, and no sessions")

  /** Whether a row judged late may be on time once other rows have arrived. */
  def judgesTogether: Boolean = false

  /** The mark of the last added row. Rows with the same mark are in the same windows. A window has
    * the marks from `firstMark` until `endMark`.
    */
  def mark: Long

  /** The highest earlier mark of rows that now have the mark of the last added row; `mark` if there
    * are none. All marks from `mark` to this mark have been replaced by `mark`.
    */
  def replaced: Long = mark

  /** The first mark above `mark` that shares no window with it. */
  def markAfter(mark: Long): Long

  /** Whether a window with rows of this mark is not closed. */
  def isOpen(mark: Long): Boolean

  /** Moves to the next window to emit at `watermark`: a window that closes, or a closed window with
    * rows of this batch. Returns false if there is none.
    */
  def next(watermark: Long): Boolean

  /** Moves to the next window that is not closed, which stays open; returns false after the last. */
  def nextOpen(): Boolean

  /** Moves to the next window that is not closed, and closes it, regardless of the watermark;
    * returns false after the last.
    */
  def nextOfAll(): Boolean

  /** As `nextOpen`, also for closed windows that can still change. */
  def nextShown(): Boolean

  /** Whether the current window had closed before the batch. */
  def isUpdate: Boolean

  /** Whether the current window, which `next` has found, can no longer change. */
  def isFinal: Boolean

  /** The start of the current window. */
  def start: Long

  /** The end of the current window. */
  def end: Long

  /** The first mark of the current window. */
  def firstMark: Long

  /** The mark after the last one of the current window. */
  def endMark: Long

  /** The rows of the current window as one buffer, valid until the next window. */
  def result: Int

  /** The number of earlier results of the current window. */
  def index: Int

  /** Counts one more result of the current window, if it can still change. */
  def count(): Unit

  /** Ends a batch, after all results: evicts windows that can no longer change at `watermark`. */
  def settle(watermark: Option[Long]): Unit

  /** Removes all rows of a key that has no open windows. */
  def release(): Unit

  /** Whether a closed window may accept rows. */
  def hasUpdates: Boolean

  /** Whether there are no rows. */
  def isEmpty: Boolean

  /** Whether there is a window with rows that is not closed. */
  def hasOpen: Boolean

  /** The watermark at which the next window closes; `WindowSet.Never` if none does. */
  def closesAt: Long

  /** The watermark at which the next window closes or can no longer change; `WindowSet.Never` if
    * there is none.
    */
  def due: Long

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

object WindowSet {

  /** The watermark or clock value for "never". */
  val Never: Long = Long.MaxValue
}
