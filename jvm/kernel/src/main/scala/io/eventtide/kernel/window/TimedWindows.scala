package io.eventtide.kernel.window

import io.eventtide.kernel.time.{Clamped, Frame}
import io.eventtide.kernel.{InvalidArgument, StateVersion}

/** When a key is silent, and for how long it is remembered.
  *
  *   - '''Units:''' those of the clock that it is measured by.
  *
  * @param timeout after so long without a row all that a key holds is given; None for never
  * @param keep so long after its last row a key is forgotten that holds nothing
  * @param byEvents whether it is measured by the watermark over all keys, in place of the clock
  */
final case class KeyIdleness(timeout: Option[Long], keep: Long, inEventTime: Boolean = false) {
  timeout.filter(_ <= 0).foreach { value =>
    throw new InvalidArgument("idle timeout", value, "more than zero")
  }
  if (keep < 0) throw new InvalidArgument("key ttl", keep, "zero or more")

  // In steps: what is forgotten a little later need not be written down with each row.
  private val steps = Frame(math.max(1, keep / 16))

  /** Whether a key that holds nothing is forgotten, whose last row was at a time. */
  def forgets(lastSign: Long, now: Long): Boolean = now >= Clamped.add(lastSign, keep)

  /** When a key that holds nothing is to be looked at, to be forgotten. */
  def forgottenAt(lastSign: Long): Long = steps.ceiling(Clamped.add(lastSign, keep))
}

/** The windows of one key in its own time: they close by its watermark, or since it is silent.
  *
  * Used for one key after another: `begin` or `read`, then `add`, then `close`, then `next` until it
  * says no, then `write` unless it is done.
  *
  *   - '''Guarantee:''' a row is late by the watermark before the batch, or in all of its windows that
  *     are open. What silence has closed may be opened again by a row that is not late; the results
  *     of a window are counted from 0.
  *   - '''Edges:''' any row is a sign of life, a late one too. Silence moves no watermark.
  *   - '''Restart:''' `write` and `read` keep all of it; the record has a version.
  *   - '''Source:''' VoltSP's `idleTimeout`.
  *
  * @param peeked windows of the same kind over the same buffers, to look ahead with; None where all
  *   triggers wait for the end
  * @param holds whether a result meets the condition of the triggers that have one
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

  private var lastSign = Long.MinValue // of life
  private var reached = Long.MinValue // by the clock that silence is measured by
  private var isAlive = false // by a row that says no time
  private var isSilent = false
  private var isPeek = false
  private var phase: PaneTiming = PaneTiming.OnTime
  private var running = windows // that has been turned to a window
  private var asked = 0 // the trigger that is asked about that window
  private var isTurned = false
  private var before = 0 // results that the window had given
  private var givenNow = 0
  private var paneIndex = 0

  /** Begins a key that has no state. */
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

  /** Whether a row that is late so far may be in time once others of its batch are here. Rows that were
    * late are to be added once more then, the latest first, since a row is saved by a later one only:
    * which are late does not depend on the order in which they came.
    */
  val judgesTogether: Boolean = windows.judgesTogether

  /** Adds the row in `buffer`, which stays the caller's; false when it is late.
    *
    * @param now the clock
    */
  def add(ts: Long, now: Long, buffer: Int): Boolean = add(ts, ts, 1, now, buffer)

  /** As `add`, for rows of one frame that are together in `buffer`; false when they are late.
    *
    * @param lowest of their times
    * @param highest of their times
    * @param rows how many they are
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

  /** Adds a row that has no time, to windows for which times do not matter. It moves no watermark, and
    * where silence is measured by events it is a sign of life at the time that they have come to.
    *
    * @param now the clock
    */
  def addWithoutTime(now: Long, buffer: Int): Unit = {
    if (silence.inEventTime) isAlive = true else lastSign = math.max(lastSign, now)
    windows.add(TimedWindows.NoTime, buffer): Unit
    if (givesEarly) states.foreach(_.add(windows.mark, windows.apart, 1))
  }

  /** All has been given; the key has more rows, which count as of another batch. */
  def again(): Unit = open()

  /** All rows of the batch are here.
    *
    * @param now the clock
    * @param overall the watermark over all keys; None while there is none
    * @param credited whether the time that has passed counts
    */
  def close(now: Long, overall: Option[Long], credited: Boolean = true): Unit = {
    time.advance(now)
    if (givesEarly) states.foreach(_.close(now))
    reached = if (silence.inEventTime) overall.getOrElse(Long.MinValue) else now
    if (isAlive) lastSign = math.max(lastSign, reached)
    isAlive = false
    isSilent = (credited || silence.inEventTime) && silence.timeout.exists(reached >= since(_))
  }

  /** Everything is to be given, whatever the watermark and the clock. */
  def closeAll(): Unit = isSilent = true

  /** As `closeAll`, but each window once, whatever the triggers. */
  def showAll(): Unit = {
    closeAll()
    isPeek = true
  }

  /** Turns to the next result; false when all have been given. */
  def next(): Boolean = {
    var found = false
    while (!found && step()) found = isGiven
    if (found) count() else settle()
    found
  }

  /** Turns to the next trigger of the window at hand, or to the first one of the next window. */
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

  /** Which trigger has given it, from 0 on. */
  def trigger: Int = asked

  /** How many results the window has given before. */
  def index: Int = paneIndex

  /** Whether its window can give no other by the same trigger. */
  def isLast: Boolean = phase == PaneTiming.OnTime

  def start: Long = running.start
  def end: Long = running.end
  def result: Int = running.result

  /** Whether the key can be forgotten. */
  def isDone: Boolean =
    windows.isEmpty && (lastSign == Long.MinValue || silence.forgets(lastSign, reached))

  /** The watermark of the key at which its next window closes. */
  def closesAt: Long = windows.due

  /** The shared watermark at which a window closes without rows. */
  def due: Long = if (time.isShared) closesAt else WindowSet.Never

  /** The watermark over all keys at which there is something to do since the key is silent. */
  def dueBySilence: Long = if (silence.inEventTime) silentAt else WindowSet.Never

  /** The clock value at which there is something to do without rows. */
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
  private val NoTime = 0L // of which nothing is made
  private val Version = 1
}
