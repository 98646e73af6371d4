package io.eventtide.kernel.rowwindow

import java.util.BitSet

import scala.collection.mutable

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Windows that end after every `slide` counted rows.
  *
  * A row is counted when the watermark reaches its time; rows reached together are counted in order
  * of arrival. Rows that the watermark has not reached are in `waiting`, so `log` is in counting
  * order.
  *
  *   - '''Edges:''' a window ends at the highest time counted by then. A window of N rows has the
  *     last N counted rows. A window of a duration has all rows of its interval that are counted in
  *     the batch. That includes rows counted after the row that ended it.
  *   - '''Source:''' Storm's `WatermarkCountTriggerPolicy`.
  *
  * @param countsAtOnce
  *   whether rows are counted on arrival, regardless of the watermark
  * @param waiting
  *   rows that the watermark has not reached
  */
private[rowwindow] final class CountTriggeredWindows(
    length: WindowLength,
    slide: Int,
    keepsLast: Boolean,
    countsAtOnce: Boolean,
    val log: RowLog,
    waiting: RowLog
) extends RetainedRowWindows {
  private var highest = Long.MinValue // highest time of the counted rows
  private var lastCount = 0L // number of counted rows when the last window ended
  private var lastEnd = 0L
  private var seen = 0L // number of counted rows when that window was emitted

  private var watermark = Option.empty[Long]
  private var reached = Long.MinValue // rows up to this time are counted
  private var isCaughtUp = false
  private val ended = mutable.ArrayBuffer.empty[(Long, Long)] // count and end of windows to emit
  private var at = -1 // position of the current window in `ended`
  private var inTime: WindowRows = _ // null before the first window, and if `length` is in rows
  private val slots = new BitSet
  private var first = -1 // none yet
  private var lastMembers = new BitSet

  def begin(): Unit = {
    highest = Long.MinValue
    lastCount = 0
    seen = 0
    log.begin()
    waiting.begin()
    open(None)
  }

  def open(watermark: Option[Long]): Unit = {
    this.watermark = watermark
    reached = if (countsAtOnce) Long.MaxValue else watermark.getOrElse(Long.MinValue)
    ended.clear()
    at = -1
    inTime = null
    isCaughtUp = false
  }

  /** Counts the waiting rows that the watermark has reached, before any other row is counted. */
  private def catchUp(): Unit = if (!isCaughtUp) {
    isCaughtUp = true
    if (!waiting.isEmpty && waiting.lowest <= reached) countWaiting(reached)
  }

  def openAll(): Unit = open(Some(Long.MaxValue))

  private def countWaiting(upTo: Long): Unit = waiting.takeUpTo(upTo) { slot =>
    log.add(waiting, slot)
    count(waiting.times(slot))
  }

  def add(ts: Long, row: RowContent): Boolean = {
    catchUp()
    if (ts <= reached) {
      log.add(ts, row)
      count(ts)
    } else waiting.add(ts, row)
    true
  }

  private def count(ts: Long): Unit = {
    highest = math.max(highest, ts)
    if (log.rows % slide == 0) ended += log.rows -> highest
  }

  def next(): Boolean = {
    catchUp()
    at += 1
    val found = at < ended.length
    if (found) {
      if (at == 0) load()
      length match {
        case WindowLength.Time(_) => inTime.moveTo(end): Unit
        case WindowLength.Rows(count) => select(ended(at)._1, count, slots)
      }
      if (first < 0) first = lowestSlot
    }
    found
  }

  private def load(): Unit = {
    log.load(below = Long.MaxValue)
    first = -1
    length match {
      case WindowLength.Time(time) => loadTime(time)
      case WindowLength.Rows(count) =>
        lastMembers = new BitSet
        if (lastCount > 0) {
          select(lastCount, count, lastMembers)
          first = lowestOf(lastMembers)
        }
    }
    val (count, end) = ended.last
    lastCount = count
    lastEnd = end
  }

  // A row with a time up to the end of the last window may arrive after that window was emitted.
  private def loadTime(time: Long): Unit = {
    inTime = new TimeEviction(log.times, log.slots, time)
    if (lastCount > 0) {
      inTime.moveTo(lastEnd): Unit
      first = inTime.lowest
    }
    lastMembers = inTime.slots.clone().asInstanceOf[BitSet]
    lastMembers.clear(log.slotFrom(seen), math.max(log.slots, log.slotFrom(seen)))
    seen = log.rows
  }

  /** Selects the last `count` of the first `counted` rows. */
  private def select(counted: Long, count: Int, into: BitSet): Unit = {
    into.clear()
    into.set(log.slotFrom(counted - count), log.slotFrom(counted))
  }

  def end: Long = ended(at)._2
  def members: BitSet = if (inTime == null) slots else inTime.slots
  def before: BitSet = lastMembers
  def firstSlot: Int = first
  def lowestSlot: Int = if (inTime == null) lowestOf(slots) else inTime.lowest

  private def lowestOf(some: BitSet): Int = if (some.isEmpty) log.slots else some.nextSetBit(0)

  def hasPending: Boolean = !waiting.isEmpty || mayUseCounted

  /** Whether rows counted since the last window may be in the next window. */
  private def mayUseCounted: Boolean = length match {
    case _: WindowLength.Time => log.rows % slide != 0 && watermark.forall(_ < lastUse)
    case WindowLength.Rows(count) => log.rows > math.max(nextCount - slide, nextCount - count)
  }

  /** The watermark from which on counted rows are in no later window; `RowLog.Never` if `length` is
    * in rows.
    */
  private def lastUse: Long = length match {
    case WindowLength.Time(time) => Clamped.add(highest, time)
    case _: WindowLength.Rows => RowLog.Never
  }

  /** The number of counted rows at which the next window ends. */
  private def nextCount: Long = (log.rows / slide + 1) * slide

  def due: Long = math.min(waiting.lowest, if (mayUseCounted) lastUse else RowLog.Never)

  // The number of rows counted since the last window decides where the next window ends.
  def isEmpty: Boolean = waiting.isEmpty && log.isEmpty && log.rows % slide == 0

  def evict(): Unit = length match {
    case WindowLength.Time(time) =>
      val past = Clamped.subtract(highest, time)
      val kept = if (keepsLast && lastCount > 0) Clamped.subtract(lastEnd, time) else past
      // Rows after the last window are in no window before the next one.
      log.drop(block => block.highest <= (if (block.first >= seen) past else kept))
    case WindowLength.Rows(count) =>
      val next = nextCount - count
      val kept = if (keepsLast && lastCount > 0) lastCount - count else next
      log.drop(block => block.last < (if (block.first >= lastCount) next else kept))
  }

  def forget(): Unit = {
    log.clear()
    waiting.clear()
  }

  def write(out: ByteSink): Unit = {
    out.putByte(RetainedRowWindows.Version)
    out.putNumber(highest)
    out.putCount(lastCount)
    out.putNumber(lastEnd)
    out.putCount(seen)
    log.write(out)
    waiting.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the windows of a key", RetainedRowWindows.Version)
    highest = in.getNumber()
    lastCount = in.getCount()
    lastEnd = in.getNumber()
    seen = in.getCount()
    log.read(in)
    waiting.read(in)
    open(None)
  }
}
