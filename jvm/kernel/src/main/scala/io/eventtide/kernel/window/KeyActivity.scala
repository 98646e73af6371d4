package io.eventtide.kernel.window

import io.eventtide.kernel.time.Clamped

/** The activity of one key, by the clock that measures idleness.
  *
  *   - '''Edges:''' any row counts, also a late row.
  *   - '''Restart:''' `write` and `read` keep all state.
  *   - '''Source:''' VoltSP's `idleTimeout`.
  */
private[window] final class KeyActivity(idleness: KeyIdleness) {
  private var lastRow = Long.MinValue // time of the last activity; `MinValue` if none
  private var reached = Long.MinValue // by the clock that measures idleness
  private var isActive = false // whether this batch had a row without a time

  /** Begins a key without state. */
  def begin(): Unit = lastRow = Long.MinValue

  def beginBatch(): Unit = isActive = false

  /** Records a row, or several rows of which `ts` is the highest time. */
  def add(ts: Long, now: Long): Unit =
    lastRow = math.max(lastRow, if (idleness.inEventTime) ts else now)

  /** Records a row without a time. In event time it counts as of the watermark over all keys. */
  def addWithoutTime(now: Long): Unit =
    if (idleness.inEventTime) isActive = true else lastRow = math.max(lastRow, now)

  /** Ends a batch; returns whether the key is idle.
    *
    * @param overall the watermark over all keys; None before the first one
    * @param credited whether elapsed time counts
    */
  def close(now: Long, overall: Option[Long], credited: Boolean): Boolean = {
    reached = if (idleness.inEventTime) overall.getOrElse(Long.MinValue) else now
    if (isActive) lastRow = math.max(lastRow, reached)
    isActive = false
    (credited || idleness.inEventTime) && idleness.timeout.exists(reached >= since(_))
  }

  /** Whether a key without windows is removed now. */
  def isExpired: Boolean = lastRow == Long.MinValue || idleness.isExpired(lastRow, reached)

  /** The timer for the key to become idle; `WindowSet.Never` if it does not. */
  def idleAt: Long = idleness.timeout.fold(WindowSet.Never)(since)

  /** The timer for the removal of a key without windows. */
  def expiresAt: Long = idleness.expiresAt(lastRow)

  private def since(length: Long): Long = Clamped.add(lastRow, length)

  def write(out: ByteSink): Unit = out.putNumber(lastRow)

  def read(in: ByteSource): Unit = lastRow = in.getNumber()
}
