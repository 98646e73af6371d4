package io.eventtide.kernel.rowwindow

import java.util.BitSet

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.{Clamped, Frame}
import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Windows that end at each multiple of a slide that the watermark has passed.
  *
  *   - '''Edges:''' the first window ends at the multiple at or after the lowest time. A window of
  *     a duration is skipped if it has no rows. A window of N rows repeats its rows at each slide.
  *     Of consecutive slides without new rows, a batch emits the first
  *     `TimeTriggeredWindows.MostQuiet`, and then only the last.
  *   - '''Source:''' Storm's `WatermarkTimeTriggerPolicy`.
  */
private[rowwindow] final class TimeTriggeredWindows(
    length: WindowLength,
    slide: Long,
    keepsLast: Boolean,
    val log: RowLog
) extends RetainedRowWindows {
  import TimeTriggeredWindows._

  private val frame = Frame(slide)
  private var hasEnded = false
  private var lastEnd = 0L // the end of the last window that was emitted
  private var nextEnd = RowLog.Never
  private var highest = Long.MinValue // highest time of all rows so far

  private var closing = Long.MinValue // windows that end before this time close
  private var loaded: WindowRows = _ // null until rows are loaded
  private var lastMembers = new BitSet
  private var first = -1 // none yet
  private var quiet = 0
  private var isEnding = false

  def begin(): Unit = {
    hasEnded = false
    nextEnd = RowLog.Never
    highest = Long.MinValue
    log.begin()
    open(None)
  }

  def open(watermark: Option[Long]): Unit = {
    closing = watermark.getOrElse(Long.MinValue)
    loaded = null
    quiet = 0
    isEnding = false
  }

  def openAll(): Unit = {
    open(None)
    isEnding = true
  }

  def add(ts: Long, row: RowContent): Boolean = {
    val end = math.max(frame.ceiling(ts), earliest)
    val isInWindow = length match {
      case WindowLength.Time(time) => ts > Clamped.subtract(end, time)
      case _: WindowLength.Rows => true
    }
    if (isInWindow) {
      nextEnd = math.min(nextEnd, end)
      highest = math.max(highest, ts)
      log.add(ts, row)
    }
    isInWindow
  }

  /** The first possible end after the last emitted window. */
  private def earliest: Long = if (hasEnded) Clamped.add(lastEnd, slide) else Long.MinValue

  def next(): Boolean = {
    if (isEnding) endAll()
    val found = nextEnd < closing
    if (found) {
      load()
      turn()
    }
    found
  }

  // Windows that repeat without new rows stop at the slide of the last row.
  private def endAll(): Unit = {
    isEnding = false
    closing = if (repeats) Clamped.add(frame.ceiling(highest), 1) else RowLog.Never
  }

  private def load(): Unit = if (loaded == null) {
    log.load(closing)
    loaded = length match {
      case WindowLength.Time(time) => new TimeEviction(log.times, log.slots, time)
      case WindowLength.Rows(count) => new CountEviction(log.times, log.slots, count)
    }
    first = -1
    if (hasEnded) {
      loaded.moveTo(lastEnd): Unit
      first = loaded.lowest
    }
    lastMembers = loaded.slots.clone().asInstanceOf[BitSet]
  }

  private def turn(): Unit = {
    val inserted = loaded.moveTo(nextEnd)
    if (first < 0) first = loaded.lowest
    if (inserted > 0) quiet = 0 // ends a run of slides without new rows
    else if (repeats) passQuiet()
    lastEnd = nextEnd
    hasEnded = true
    nextEnd = following
  }

  private def repeats: Boolean = length.isInstanceOf[WindowLength.Rows]

  // Bounds the number of windows if one timestamp is absurdly far ahead.
  private def passQuiet(): Unit = {
    quiet += 1
    if (quiet > MostQuiet) {
      val other = math.min(frame.ceiling(closing), frame.ceiling(nextTime))
      nextEnd = math.max(nextEnd, Clamped.subtract(other, slide))
    }
  }

  private def nextTime: Long = math.min(loaded.nextTime, log.lowestLeft)

  private def following: Long = {
    val next = Clamped.add(lastEnd, slide)
    length match {
      case WindowLength.Time(time) if !hasRowAfter(Clamped.subtract(next, time)) =>
        if (nextTime == RowLog.Never) RowLog.Never else math.max(next, frame.ceiling(nextTime))
      case _ => next
    }
  }

  private def hasRowAfter(time: Long): Boolean = loaded.hasEntered && loaded.newest > time

  def end: Long = lastEnd
  def members: BitSet = loaded.slots
  def before: BitSet = lastMembers
  def firstSlot: Int = first
  def lowestSlot: Int = loaded.lowest

  def hasPending: Boolean = length match {
    case _: WindowLength.Time => nextEnd != RowLog.Never
    case _: WindowLength.Rows => !log.isEmpty && !(hasEnded && highest <= lastEnd)
  }

  def due: Long = if (nextEnd == RowLog.Never) RowLog.Never else Clamped.add(nextEnd, 1)

  def isEmpty: Boolean = log.isEmpty

  def evict(): Unit = length match {
    case WindowLength.Time(time) =>
      val needed = if (keepsLast && hasEnded) lastEnd else nextEnd
      log.drop(_.highest <= Clamped.subtract(needed, time))
    // Rows before a full window are in no later window, regardless of their times.
    case WindowLength.Rows(count) =>
      if (loaded != null && loaded.slots.cardinality == count) {
        val first = log.number(loaded.slots.nextSetBit(0))
        log.drop(_.last < first)
      }
  }

  def forget(): Unit = log.clear()

  def write(out: ByteSink): Unit = {
    out.putByte(RetainedRowWindows.Version)
    out.putByte(if (hasEnded) 1 else 0)
    out.putNumber(lastEnd)
    out.putNumber(nextEnd)
    out.putNumber(highest)
    log.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the windows of a key", RetainedRowWindows.Version)
    hasEnded = in.getByte() == 1
    lastEnd = in.getNumber()
    nextEnd = in.getNumber()
    highest = in.getNumber()
    log.read(in)
    open(None)
  }
}

private object TimeTriggeredWindows {

  /** The maximum number of consecutive slides without new rows that repeat rows in one batch. */
  val MostQuiet = 1000
}
