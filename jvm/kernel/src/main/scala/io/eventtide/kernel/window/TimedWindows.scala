package io.eventtide.kernel.window

import io.eventtide.kernel.time.{Clamped, Frame}
import io.eventtide.kernel.{InvalidArgument, StateVersion}

/** When a key is idle, and how long an empty key is retained.
  *
  *   - '''Units:''' the unit of the clock that measures idleness.
  *
  * @param timeout time without a row after which a key emits all its windows; None for never
  * @param keep time from its last row after which a key without windows is removed
  * @param inEventTime whether the watermark over all keys measures idleness, instead of the clock
  */
final case class KeyIdleness(timeout: Option[Long], keep: Long, inEventTime: Boolean = false) {
  timeout.filter(_ <= 0).foreach { value =>
    throw new InvalidArgument("idle timeout", value, "more than zero")
  }
  if (keep < 0) throw new InvalidArgument("key ttl", keep, "zero or more")

  // Rounds the removal time up, so that it need not be saved again with each row.
  private val steps = Frame(math.max(1, keep / 16))

  /** Whether a key without windows is removed at `now`, if its last activity was at `lastSign`. */
  def forgets(lastSign: Long, now: Long): Boolean = now >= Clamped.add(lastSign, keep)

  /** The timer for the removal of a key without windows. */
  def forgottenAt(lastSign: Long): Long = steps.ceiling(Clamped.add(lastSign, keep))
}

/** The windows of one key in its event time: they close by the key's watermark, or when it is idle.
  *
  * The instance is reused for one key after another: `begin` or `read`, then `add`, then `close`,
  * then `next` until it returns false, then `write` unless `isDone`.
  *
  *   - '''Guarantee:''' a row is either late by the watermark before the batch, or in all of its
  *     open windows. A row that is not late may reopen a window that idleness has closed. The
  *     results of a window are counted from 0.
  *   - '''Edges:''' any row counts as activity, also a late row. Idleness does not move the
  *     watermark.
  *   - '''Restart:''' `write` and `read` keep all state; the record has a version.
  *   - '''Source:''' VoltSP's `idleTimeout`.
  *
  * @param peeked windows of the same kind over the same buffers, used to compute early results;
  *   None if all triggers wait for the end
  * @param holds condition of the triggers that have one, on a result
  */
final class TimedWindows(
    windows: WindowSet,
    time: KeyWatermark,
    silence: KeyIdleness,
    triggers: Seq[Trigger] = Seq(Trigger.AtEnd),
    peeked: Option[WindowSet] = None,
    holds: Int => Boolean = _ => true
) {
  private val states = triggers.map(new TriggerState(_)).toArray
  private val givesEarly = triggers.exists(_.givesEarly)
  private val copied = new ByteSink
  private val copy = new ByteSource

  private var lastSign = Long.MinValue // time of the last activity
  private var reached = Long.MinValue // by the clock that measures idleness
  private var isAlive = false // has activity in this batch by a row without a time
  private var isSilent = false
  private var isPeek = false
  private var phase: PaneTiming = PaneTiming.OnTime
  private var running = windows // the set that has the current window
  private var asked = 0 // position of the current trigger
  private var isTurned = false
  private var before = 0 // number of earlier results of the current window
  private var givenNow = 0
  private var paneIndex = 0

  /** Begins a key without state. */
  def begin(): Unit = {
    time.begin()
    windows.begin()
    states.foreach(_.clear())
    lastSign = Long.MinValue
    open()
  }

  private def open(): Unit = {
    isAlive = false
    isSilent = false
    isPeek = false
    phase = PaneTiming.OnTime
    running = windows
    isTurned = false
    windows.judgeBy(time.watermark)
  }

  def watermark: Option[Long] = time.watermark

  /** Whether a row judged late may be on time once more rows of its batch have arrived. If so, late
    * rows must be added once more, latest first, because only a later row can make a row on time.
    * Lateness then does not depend on the order of arrival.
    */
  val judgesTogether: Boolean = windows.judgesTogether

  /** Adds the row in `buffer`, which the caller keeps; returns false if it is late.
    *
    * @param now the clock
    */
  def add(ts: Long, now: Long, buffer: Int): Boolean = add(ts, ts, 1, now, buffer)

  /** As `add`, for rows of one frame combined in `buffer`; returns false if they are late.
    *
    * @param lowest lowest time of the rows
    * @param highest highest time of the rows
    * @param rows number of rows
    */
  def add(lowest: Long, highest: Long, rows: Long, now: Long, buffer: Int): Boolean = {
    lastSign = math.max(lastSign, if (silence.inEventTime) highest else now)
    val onTime = windows.add(lowest, buffer)
    if (onTime) {
      time.accept(lowest, highest)
      if (givesEarly) states.foreach(_.add(windows.mark, windows.apart, rows))
    } else time.refuse(lowest, highest)
    onTime
  }

  /** Adds a row without a time, to windows that ignore event time. It does not move the watermark.
    * If idleness is in event time, it counts as activity at the watermark over all keys.
    *
    * @param now the clock
    */
  def addWithoutTime(now: Long, buffer: Int): Unit = {
    if (silence.inEventTime) isAlive = true else lastSign = math.max(lastSign, now)
    windows.add(TimedWindows.NoTime, buffer): Unit
    if (givesEarly) states.foreach(_.add(windows.mark, windows.apart, 1))
  }

  /** Begins another batch of the same key, after all results have been emitted. */
  def again(): Unit = open()

  /** Ends the batch, after its last row.
    *
    * @param now the clock
    * @param overall the watermark over all keys; None before the first one
    * @param credited whether elapsed time counts
    */
  def close(now: Long, overall: Option[Long], credited: Boolean = true): Unit = {
    time.advance(now)
    if (givesEarly) states.foreach(_.close(now))
    reached = if (silence.inEventTime) overall.getOrElse(Long.MinValue) else now
    if (isAlive) lastSign = math.max(lastSign, reached)
    isAlive = false
    isSilent = (credited || silence.inEventTime) && silence.timeout.exists(reached >= since(_))
  }

  /** Makes `next` emit all windows, regardless of the watermark and the clock. */
  def closeAll(): Unit = isSilent = true

  /** As `closeAll`, but each window once, regardless of the triggers. */
  def showAll(): Unit = {
    closeAll()
    isPeek = true
  }

  /** Moves to the next result; returns false if there is none. */
  def next(): Boolean = {
    var found = false
    while (!found && step()) found = isGiven
    if (found) count() else settle()
    found
  }

  /** Moves to the next trigger of the current window, or to the first one of the next window. */
  private def step(): Boolean =
    if (isTurned && !isPeek && asked + 1 < states.length) {
      asked += 1
      true
    } else {
      asked = 0
      givenNow = 0
      isTurned = turn()
      if (isTurned) before = running.index
      isTurned
    }

  private def turn(): Boolean = phase match {
    case PaneTiming.OnTime =>
      windows.next(time.watermark.getOrElse(Long.MinValue)) || (hasMore && turn())
    case PaneTiming.Idle => windows.nextOfAll()
    case _ => running.nextOfAll()
  }

  private def hasMore: Boolean = {
    val peeks = !isSilent && !windows.isEmpty && states.exists(_.givesOpen)
    if (isSilent) phase = PaneTiming.Idle
    else if (peeks) peek()
    isSilent || peeks
  }

  private def peek(): Unit = {
    copied.reset(0)
    windows.write(copied)
    copy.reset(copied.bytes, 0)
    running = peeked.get
    running.read(copy)
    phase = PaneTiming.Early
  }

  private def isGiven: Boolean = {
    val state = states(asked)
    def result = holds(running.result)
    if (phase == PaneTiming.Early)
      state.givesOpen && state.givesChanged(running.start, running.end, result)
    else isPeek || state.givesClosed(running.start, running.end, result)
  }

  private def count(): Unit = {
    paneIndex = before + givenNow
    givenNow += 1
    if (!isLast) windows.count(running.start, running.end)
  }

  private def settle(): Unit = {
    time.watermark.foreach(windows.forget)
    if (isSilent) states.foreach(_.clear())
    else if (givesEarly) states.foreach(_.settle(windows.isOpen))
  }

  def timing: PaneTiming = phase

  /** The position of the trigger that fired, from 0 on. */
  def trigger: Int = asked

  /** The number of earlier results of the window. */
  def index: Int = paneIndex

  /** Whether the same trigger cannot fire for this window again. */
  def isLast: Boolean = phase == PaneTiming.OnTime

  def start: Long = running.start
  def end: Long = running.end
  def result: Int = running.result

  /** Whether the key can be removed. */
  def isDone: Boolean =
    windows.isEmpty && (lastSign == Long.MinValue || silence.forgets(lastSign, reached))

  /** The watermark of the key at which its next window closes. */
  def closesAt: Long = windows.due

  /** The shared watermark at which a window closes without rows. */
  def due: Long = if (time.isShared) closesAt else WindowSet.Never

  /** The watermark over all keys at which the idle key has work: windows to emit or its removal. */
  def dueBySilence: Long = if (silence.inEventTime) silentAt else WindowSet.Never

  /** The clock value at which the key has work without rows. */
  def deadline: Long = {
    val ofSilence = if (silence.inEventTime) WindowSet.Never else silentAt
    val all = math.min(
      ofSilence,
      states.foldLeft(WindowSet.Never)((at, state) => math.min(at, state.deadline))
    )
    if (windows.isEmpty) all else math.min(all, time.dueAt(windows.due))
  }

  private def silentAt: Long =
    if (windows.isEmpty) silence.forgottenAt(lastSign)
    else silence.timeout.fold(WindowSet.Never)(since)

  private def since(length: Long): Long = Clamped.add(lastSign, length)

  def write(out: ByteSink): Unit = {
    out.putByte(TimedWindows.Version)
    out.putNumber(lastSign)
    time.write(out)
    states.foreach(_.write(out))
    windows.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the windows of a key", TimedWindows.Version)
    lastSign = in.getNumber()
    time.read(in)
    states.foreach(_.read(in))
    windows.read(in)
    open()
  }
}

private object TimedWindows {
  private val NoTime = 0L // not used by the windows
  private val Version = 1
}
