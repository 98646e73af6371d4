package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** The windows of one key over aggregated rows, by the watermark of the key, its idleness and its
  * triggers.
  *
  * The instance is reused for one key after another: `begin` or `read`, then `add`, then `close`,
  * then `next` until it returns false, then `write` unless `isDone`.
  *
  *   - '''Guarantee:''' a row is either late by the watermark before the batch, or in all of its
  *     windows that can still change. A trigger emits a window once on time. It emits it early or
  *     late only if the window has rows since the trigger's last result. The results of a window
  *     are counted from 0. If idleness has closed a window, a row that is not late may reopen it.
  *   - '''Edges:''' any row counts as activity, also a late row. Idleness does not move the
  *     watermark.
  *   - '''Restart:''' `write` and `read` keep all state; the record has a version.
  *   - '''Source:''' VoltSP's `idleTimeout`, Flink's allowed lateness, Beam's panes.
  *
  * @param triggers the triggers, in the order in which they emit a window
  * @param discarding the buffers, if a result has only the rows since the last result of its window
  *   by the same trigger; None if it has all rows
  * @param holds condition of the triggers that have one, on a result
  */
final class AggregatingWindows(
    windows: WindowSet,
    time: KeyWatermark,
    idleness: KeyIdleness,
    triggers: Seq[Trigger] = Seq(Trigger.AtEnd),
    discarding: Option[Buffers] = None,
    holds: Int => Boolean = _ => true
) {
  import AggregatingWindows.{NoBuffer, NoTime, Version}

  private val states = triggers.map(new TriggerState(_, discarding)).toArray
  private val tracks = states.exists(_.tracks)
  private val added = new ChangedMarks(discarding) // the rows of this batch, for late results
  private val tracksBatch = discarding.isDefined && windows.hasUpdates
  private val pool = discarding.orNull

  private val activity = new KeyActivity(idleness)
  private var now = 0L // the clock
  private var closesAll = false
  private var showsAll = false
  private var phase: PaneTiming = PaneTiming.OnTime
  private var asked = 0 // position of the current trigger
  private var hasWindow = false
  private var earlier = 0 // number of earlier results of the current window
  private var emitted = 0 // number of its results in this batch
  private var paneIndex = 0
  private var sum = NoBuffer // the current result, if `discarding`

  /** Begins a key without state. */
  def begin(): Unit = {
    time.begin()
    windows.begin()
    states.foreach(_.begin())
    activity.begin()
    beginBatch()
  }

  /** Begins another batch of the same key, after all results have been emitted. */
  def beginBatch(): Unit = {
    activity.beginBatch()
    closesAll = false
    showsAll = false
    phase = PaneTiming.OnTime
    hasWindow = false
    sum = NoBuffer
    added.begin()
    windows.beginBatch(time.watermark)
  }

  def watermark: Option[Long] = time.watermark

  /** As `KeyWatermark.reached`. */
  def reached: Long = time.reached

  /** Whether a row judged late may be on time once more rows of its batch have arrived. If so, the
    * caller must add the late rows once more, in descending order of the end of the time that they
    * cover: only a row that ends later can make a row on time. Lateness then does not depend on the
    * order of arrival.
    */
  val judgesTogether: Boolean = windows.judgesTogether

  /** Adds the row in `buffer`, which the caller keeps; returns false if it is late.
    *
    * @param now the clock
    */
  def add(ts: Long, now: Long, buffer: Int): Boolean = add(ts, ts, 1, now, buffer)

  /** As `add`, for a row with its own session gap. */
  def add(ts: Long, gap: Long, now: Long, buffer: Int): Boolean = {
    activity.add(ts, now)
    judged(windows.add(ts, gap, buffer), ts, ts, 1, buffer)
  }

  /** As `add`, for rows of one frame combined in `buffer`; returns false if they are late.
    *
    * @param lowest lowest time of the rows
    * @param highest highest time of the rows
    * @param rows number of rows
    */
  def add(lowest: Long, highest: Long, rows: Long, now: Long, buffer: Int): Boolean = {
    activity.add(highest, now)
    judged(windows.add(lowest, buffer), lowest, highest, rows, buffer)
  }

  private def judged(
      onTime: Boolean,
      lowest: Long,
      highest: Long,
      rows: Long,
      buffer: Int
  ): Boolean = {
    if (onTime) {
      time.accept(lowest, highest)
      if (tracks) track(rows, buffer)
    } else time.refuse(lowest, highest)
    onTime
  }

  /** Adds a row without a time, to windows that ignore event time. It does not move the watermark.
    * If idleness is in event time, it counts as activity at the watermark over all keys.
    *
    * @param now the clock
    */
  def addWithoutTime(now: Long, buffer: Int): Unit = {
    activity.addWithoutTime(now)
    windows.add(NoTime, buffer): Unit
    if (tracks) track(1, buffer)
  }

  private def track(rows: Long, buffer: Int): Unit = {
    var i = 0
    while (i < states.length) {
      states(i).add(windows, rows, buffer)
      i += 1
    }
    if (tracksBatch) added.add(windows, rows, buffer)
  }

  /** Ends the batch, after its last row.
    *
    * @param now the clock
    * @param overall the watermark over all keys; None before the first one
    * @param credited whether elapsed time counts
    */
  def close(now: Long, overall: Option[Long], credited: Boolean = true): Unit = {
    time.advance(now)
    this.now = now
    closesAll = activity.close(now, overall, credited)
  }

  /** Makes `next` emit all windows, regardless of the watermark and the clock. */
  def closeAll(): Unit = closesAll = true

  /** Makes `next` emit, regardless of the triggers, each window that can still change: once, with
    * all its rows.
    */
  def showAll(): Unit = {
    showsAll = true
    phase = PaneTiming.Idle
  }

  /** Moves to the next result; returns false if there is none. */
  def next(): Boolean = {
    releaseSum()
    var found = false
    while (!found && step()) found = emits
    if (found) count() else settle()
    found
  }

  private def releaseSum(): Unit = if (sum != NoBuffer) {
    pool.release(sum)
    sum = NoBuffer
  }

  /** Moves to the next trigger of the current window, or to the first trigger of the next window.
    */
  private def step(): Boolean =
    if (hasWindow && !showsAll && asked + 1 < states.length) {
      asked += 1
      true
    } else {
      asked = 0
      emitted = 0
      hasWindow = nextWindow()
      if (hasWindow) earlier = windows.index
      hasWindow
    }

  private def nextWindow(): Boolean = phase match {
    case PaneTiming.Early => windows.nextOpen()
    case PaneTiming.Idle => if (showsAll) windows.nextShown() else windows.nextOfAll()
    case _ =>
      windows.next(time.watermark.getOrElse(Long.MinValue)) || (beginsOpen() && nextWindow())
  }

  private def beginsOpen(): Boolean = {
    if (tracks && !closesAll) states.foreach(_.fire(now, windows))
    val isEarly = !closesAll && states.exists(_.isFiring)
    if (closesAll) phase = PaneTiming.Idle else if (isEarly) phase = PaneTiming.Early
    closesAll || isEarly
  }

  private def emits: Boolean = {
    val state = states(asked)
    if (phase == PaneTiming.Early) state.firesFor(windows) && meets(state)
    else showsAll || state.atEnd || state.hasChanged(windows) && meets(state)
  }

  private def meets(state: TriggerState): Boolean = !state.hasCondition || holds(result)

  private def count(): Unit = {
    paneIndex = earlier + emitted
    emitted += 1
    if (!isLast) windows.count()
  }

  private def settle(): Unit = {
    windows.settle(time.watermark)
    if (isDone && !showsAll) windows.release()
    added.clear()
    if (tracks) states.foreach(state => if (closesAll) state.clear() else state.settle())
  }

  def timing: PaneTiming =
    if (phase == PaneTiming.OnTime && windows.isUpdate) PaneTiming.Late else phase

  /** The position of the trigger that fired, from 0 on. */
  def trigger: Int = asked

  /** The number of earlier results of the window. */
  def index: Int = paneIndex

  /** Whether the same trigger cannot fire for this window again. */
  def isLast: Boolean = phase == PaneTiming.OnTime && windows.isFinal

  def start: Long = windows.start
  def end: Long = windows.end

  /** The rows of the result as one buffer, valid until the next call of `next`. */
  def result: Int =
    if (pool == null || showsAll) windows.result
    else {
      if (sum == NoBuffer) sum = unemitted.sum(windows)
      sum
    }

  private def unemitted: ChangedMarks =
    if (timing == PaneTiming.Late) added else states(asked).changed

  /** Whether the key can be removed. A key with a separate watermark does not wait until its closed
    * windows can no longer change, because its watermark may never move again.
    */
  def isDone: Boolean = canExpire && activity.isExpired

  private def canExpire: Boolean = !windows.hasOpen && (windows.isEmpty || !time.isShared)

  /** The watermark of the key at which its next window closes. */
  def closesAt: Long = windows.closesAt

  /** The shared watermark at which the key has work without rows. */
  def due: Long = if (time.isShared) windows.due else WindowSet.Never

  /** The watermark over all keys at which the idle key has work: windows to emit, or its removal.
    */
  def dueByIdleness: Long = if (idleness.inEventTime) idlenessTimer else WindowSet.Never

  /** The clock value at which the key has work without rows. */
  def deadline: Long = {
    val byIdleness = if (idleness.inEventTime) WindowSet.Never else idlenessTimer
    val byTriggers =
      states.foldLeft(WindowSet.Never)((at, state) => math.min(at, state.deadline))
    val byClock = if (windows.isEmpty) WindowSet.Never else time.dueAt(windows.due)
    math.min(byIdleness, math.min(byTriggers, byClock))
  }

  private def idlenessTimer: Long =
    if (windows.hasOpen) activity.idleAt
    else if (canExpire) activity.expiresAt
    else WindowSet.Never

  def write(out: ByteSink): Unit = {
    out.putByte(Version)
    activity.write(out)
    time.write(out)
    states.foreach(_.write(out))
    windows.write(out)
  }

  def read(in: ByteSource): Unit = {
    readRecord(in)
    beginBatch()
  }

  /** Copies the record of a key; the buffers read and write each buffer. */
  def copyRecord(in: ByteSource, out: ByteSink): Unit = {
    readRecord(in)
    write(out)
  }

  private def readRecord(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the windows of a key", Version)
    activity.read(in)
    time.read(in)
    states.foreach(_.read(in))
    windows.read(in)
  }
}

private object AggregatingWindows {
  private val NoTime = 0L // not used by the windows
  private val NoBuffer = -1
  private val Version = 2
}
