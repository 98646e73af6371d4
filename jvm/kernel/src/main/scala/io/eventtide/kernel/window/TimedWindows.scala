package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** When a key is silent, and for how long it is remembered.
  *
  *   - '''Units:''' those of the clock that it is measured by.
  *
  * @param timeout after so long without a row all that a key holds is given; None for never
  * @param keep so long after its last row a key is forgotten that holds nothing
  * @param byEvents whether it is measured by the watermark over all keys, in place of the clock
  */
final case class Silence(timeout: Option[Long], keep: Long, byEvents: Boolean = false) {
  timeout.filter(_ <= 0).foreach { value =>
    throw new InvalidArgument("idle timeout", value, "more than zero")
  }
  if (keep < 0) throw new InvalidArgument("key ttl", keep, "zero or more")
}

/** The windows of one key in its own time: they close by its watermark, or since it is silent.
  *
  * Used for one key after another: `begin` or `read`, then `add`, then `close`, then `next` until it
  * says no, then `write` unless it is done.
  *
  *   - '''Guarantee:''' a row is late by the watermark before the batch, or in all of its windows that
  *     are open. What silence has closed may be opened again by a row that is not late; its results
  *     are counted from 0.
  *   - '''Edges:''' any row is a sign of life, a late one too. Silence moves no watermark.
  *   - '''Restart:''' `write` and `read` keep all of it; the record has a version.
  *   - '''Source:''' VoltSP's `idleTimeout`.
  */
final class TimedWindows(windows: OpenWindows, time: KeyTime, silence: Silence) {
  private val counts = new PaneCounts // of results that were not the last of their windows
  private var lastSign = Long.MinValue // of life
  private var reached = Long.MinValue // by the clock that silence is measured by
  private var isSilent = false
  private var isLeaving = false // all that is held is being given
  private var paneIndex = 0

  /** Begins a key that has no state. */
  def begin(): Unit = {
    time.begin()
    windows.begin()
    counts.clear()
    lastSign = Long.MinValue
    open()
  }

  private def open(): Unit = {
    isSilent = false
    isLeaving = false
    windows.judgeBy(time.watermark)
  }

  def watermark: Option[Long] = time.watermark

  /** Adds what is in `buffer`, which stays the caller's; false when the row is late.
    *
    * @param now the clock
    */
  def add(ts: Long, now: Long, buffer: Int): Boolean = {
    lastSign = math.max(lastSign, if (silence.byEvents) ts else now)
    val onTime = windows.add(ts, buffer)
    if (onTime) time.accept(ts)
    onTime
  }

  /** All rows of the batch are here.
    *
    * @param now the clock
    * @param overall the watermark over all keys; None while there is none
    */
  def close(now: Long, overall: Option[Long]): Unit = {
    time.advance(now)
    reached = if (silence.byEvents) overall.getOrElse(Long.MinValue) else now
    isSilent = silence.timeout.exists(reached >= since(_))
  }

  /** Everything is to be given, whatever the watermark and the clock. */
  def closeAll(): Unit = isSilent = true

  /** Turns to the next result; false when all have been given. */
  def next(): Boolean = {
    val found = !isLeaving && windows.next(time.watermark.getOrElse(Long.MinValue)) || leave()
    if (found) {
      paneIndex = counts(windows.end)
      if (isLeaving) counts(windows.end) = paneIndex + 1
    } else settle()
    found
  }

  private def leave(): Boolean = isSilent && {
    isLeaving = true
    windows.nextOfAll()
  }

  private def settle(): Unit = {
    if (isLeaving) windows.begin()
    // What is closed for good has no other result.
    time.watermark.foreach(reached => counts.forget(windows.closed(reached)))
  }

  def timing: PaneTiming = if (isLeaving) PaneTiming.Idle else PaneTiming.OnTime

  /** How many results the window has given before. */
  def index: Int = paneIndex

  /** Whether its window can give no other. */
  def isLast: Boolean = !isLeaving

  def start: Long = windows.start
  def end: Long = windows.end
  def result: Int = windows.result

  /** Whether the key can be forgotten. */
  def isDone: Boolean =
    windows.isEmpty && (lastSign == Long.MinValue || reached >= since(silence.keep))

  /** The watermark over all keys at which there is something to do without rows. */
  def due: Long = math.min(
    if (time.isShared) windows.due else OpenWindows.Never,
    if (silence.byEvents) silentAt else OpenWindows.Never
  )

  /** The clock value at which there is something to do without rows. */
  def deadline: Long = math.min(
    if (windows.isEmpty) OpenWindows.Never
    else time.dueAt(windows.due).getOrElse(OpenWindows.Never),
    if (silence.byEvents) OpenWindows.Never else silentAt
  )

  private def silentAt: Long =
    if (windows.isEmpty) since(silence.keep)
    else silence.timeout.fold(OpenWindows.Never)(since)

  private def since(length: Long): Long = Clamped.add(lastSign, length)

  def write(out: ByteSink): Unit = {
    out.putByte(TimedWindows.Version)
    out.putNumber(lastSign)
    time.write(out)
    counts.write(out)
    out.putByte(if (windows.isEmpty) 0 else 1)
    if (!windows.isEmpty) windows.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the windows of a key", TimedWindows.Version)
    lastSign = in.getNumber()
    time.read(in)
    counts.read(in)
    if (in.getByte() == 0) windows.begin() else windows.read(in)
    open()
  }
}

private object TimedWindows {
  private val Version = 1
}
