package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.disorder.{BatchDisorder, LateTarget}
import io.eventtide.kernel.time.{Clamped, Frame}
import io.eventtide.kernel.{IncompatibleState, InvalidArgument, SavedText, StateVersion}

/** Combines the substreams' watermarks: each substream has a policy instance, and the lowest active
  * watermark counts.
  *
  *   - '''Guarantee:''' the emitted watermark never goes back. A substream that is added or becomes
  *     active again delays the watermark, but does not lower it. After rows, no substream's new
  *     watermark is above the highest time or mark among them. There is no such cap after a tick, or
  *     when a learnt lag has become shorter.
  *   - '''Units:''' event times and the clock share one unit, the unit of the policy's parameters.
  *   - '''Edges:''' a substream is idle from `last row + timeout` on, inclusive, and is left out. A
  *     substream with a backlog is never idle, because it may have unread rows. If the policy
  *     measures idleness, ticks do not move a substream with a backlog. If it still has a backlog
  *     at its next batch, the time until that batch does not count. When the last active substream
  *     goes idle, the highest watermark of any substream so far is released. Without substreams the
  *     status is `Idle`. A declared substream delays the watermark until it has a row or is idle.
  *   - '''Restart:''' format 4. `saveWhole` once, then `saveChanged` any number of times, which
  *     saves only the touched substreams. Clock steps that apply to all substreams are saved once.
  *     Time passed to `skip` does not count. Changed throttles continue from the emitted watermark.
  *   - '''Source:''' Jet's `EventTimeMapper`.
  *
  * @param spec policy, with one instance per substream
  * @param throttles chain applied in order to the combined watermark
  * @param idleTimeout time without a row after which a substream is left out; more than zero
  * @param grain granularity of the emitted watermark: only multiples are emitted; one or more
  * @param ttl time without a row after which an idle substream is forgotten, at the end of a batch
  *   or tick; at least the idle timeout
  */
final class Substreams(
    spec: PolicySpec,
    throttles: Seq[ThrottleSpec] = Nil,
    idleTimeout: Option[Long] = None,
    grain: Long = 1,
    ttl: Option[Long] = None
) {
  idleTimeout.foreach(Substreams.IdleTimeout.check)
  ttl.filter(most => idleTimeout.forall(_ > most)).foreach { most =>
    val least =
      idleTimeout.fold("given with an idle timeout")(at => s"at least the idle timeout $at")
    throw new InvalidArgument(Substreams.Ttl, most, least)
  }

  private val movesWithClock = spec.movesWithClock
  private val ttlGrid = Frame(Math.max(1, ttl.getOrElse(1L) / 16))
  private val timeout = idleTimeout.getOrElse(Long.MaxValue)
  private val deferred = new DeferredUpdates
  private val table = new SubstreamTable(spec, deferred)
  private val steps = new SharedSteps
  private val target = spec.lateTarget.map(new LateTarget(_))
  private val emitter = new WatermarkEmitter(table, ThrottleSpec.chain(throttles, grain), timeout)
  private val noneRemoved = new MonotonicMax
  private var started = false
  private var clock = Long.MinValue // before `started`, every clock value is later
  private var nextIdle = Long.MaxValue // no substream becomes idle before this
  private var nextExpiry = Long.MaxValue // no substream is forgotten before this
  private var anyBehind = false
  private var anyPaused = false
  private var clockChangesAt = Long.MinValue // before this, the clock changes nothing

  def size: Int = table.size

  def indexOf(name: String): Option[Int] = table.indexOf(name)

  /** Adds a substream, which delays the watermark; its idle timeout starts now. */
  def declare(name: String, now: Long): Int = {
    val index = table.append(name, Math.max(clock, now))
    emitter.declared()
    nextIdle = Math.min(nextIdle, table(index).idleAt(timeout))
    clockChangesAt = if (movesWithClock) Long.MinValue else Math.min(clockChangesAt, nextIdle)
    index
  }

  /** Applies one row; returns true if `emitted` moved. */
  def observe(now: Long, index: Int, ts: Long): Boolean = {
    val at = Math.max(clock, now)
    if (at >= clockChangesAt) observeAndApplyClock(at, table(index), ts)
    else {
      emitter.prepareForRows()
      if (at != clock) clock = at
      !deferred.defer(at, index, ts) && observeNow(at, index, ts)
    }
  }

  /** Applies the rows of one batch, one entry per substream; returns true if `emitted` moved.
    *
    * @param disorder the disorder of these rows, for a policy with a target
    */
  def observeBatch(
      now: Long,
      rows: Iterable[SubstreamRows],
      disorder: BatchDisorder = BatchDisorder.None
  ): Boolean =
    if (rows.isEmpty) tick(now)
    else {
      val cap = rows.iterator.map(_.cap).max
      advanceByRows(now)
      target.foreach(learn(_, disorder)) // before the rows, which follow the new lag
      rows.foreach { of =>
        table(of.index).observe(clock, of, cap)
        table(of.index).idle = false
      }
      val moved = applyClock(cap)
      removeExpired()
      moved
    }

  /** The lag that the target has learnt; None without a target. */
  def learntLag: Option[Long] = target.map(_.lag)

  private def learn(target: LateTarget, disorder: BatchDisorder): Unit = {
    val before = target.lag
    target.observe(disorder.rows, disorder.late)
    if (target.lag != before) {
      table.learn(target.lag)
      steps.learnt(target.lag)
    }
  }

  /** The lowest of the highest times of the substreams that are active at `now` if no rows come, or the
    * highest of all if none is; None while an active substream has no row.
    */
  def lowestTop(now: Long): Option[Long] = {
    val at = Math.max(clock, now)
    val tops = new MinActiveWatermark
    tops.clear(noneRemoved)
    var i = 0
    while (i < table.size) {
      val one = table(i)
      tops.add(isIdle(one, at), one.rows > 0, one.top)
      i += 1
    }
    Option.when(tops.known)(tops.value)
  }

  /** Moves the clock; returns true if `emitted` moved. */
  def tick(now: Long): Boolean = {
    advance(now)
    val moved = clock >= clockChangesAt && applyClock(Long.MaxValue)
    removeExpired()
    moved
  }

  /** Moves the clock; the elapsed time does not count, because the query was down. */
  def skip(now: Long): Unit = {
    val from = clock // `Long.MinValue` before any call: skips all time since the declaration
    advance(now)
    table.iterator.foreach(_.skip(from, clock))
    steps.skipped(from, clock)
    invalidate()
  }

  /** Sets the backlogs that the sources report; they count from the next rows or tick on. */
  def backlogs(of: Iterable[(Int, Backlog)]): Unit = {
    val changed = of.filter { case (index, backlog) => table(index).updateBacklog(backlog) }
    if (changed.nonEmpty) {
      if (started) changed.foreach { case (index, _) => updateIdle(table(index)) }
      anyPaused = table.iterator.exists(_.isPaused)
      invalidate()
    }
  }

  /** Renames a substream, e.g. when an expected substream gets its actual name. An idle substream
    * becomes active again.
    */
  def rename(index: Int, name: String, now: Long): Unit = {
    table.rename(index, name)
    if (table(index).idle) {
      table(index).restart(Math.max(clock, now))
      invalidate()
    }
  }

  /** Removes a substream, which shifts the higher indexes down; returns true if `emitted` moved.
    *
    * @param cap highest time of the rows at this clock value, if there were any
    */
  def remove(index: Int, now: Long, cap: Long = Long.MaxValue): Boolean = {
    advance(now)
    table.remove(index)
    applyClock(cap)
  }

  /** Raises `emitted` to a watermark that was emitted elsewhere; an advance counts as emitted at
    * `now`.
    */
  def raise(floor: Long, now: Long): Unit = emitter.raise(floor, now)

  def status: WatermarkStatus =
    if (table.iterator.forall(_.idle)) WatermarkStatus.Idle
    else if (emitter.emitted.isDefined) WatermarkStatus.Value
    else WatermarkStatus.Unknown

  /** The combined watermark before the throttle. It may go back when a substream is added. */
  def ideal: Option[Long] = emitter.ideal

  /** The watermark that the throttle has emitted. */
  def emitted: Option[Long] = emitter.emitted

  /** The earliest clock value at which, without more rows, `emitted` is at `target` or above.
    *
    * A value not above the clock means that it already is, or that a tick is enough. None means
    * never.
    */
  def dueAt(target: Long): Option[Long] = emitter.dueAt(target, clock)

  /** The earliest clock value at which, without more rows, `emitted` would move at all.
    *
    * A value not above the clock means that a tick is enough; the same tick is not requested twice.
    */
  def nextDue: Option[Long] =
    emitter.nextDue(clock).filter(due => due > clock || clockChangesAt <= clock)

  /** Whether no rows until `now` would make a substream idle or advance its watermark. */
  def isMovedByIdleness(now: Long): Boolean = table.iterator.exists { one =>
    !one.idle && (idleTimeout.exists(now >= one.idleAt(_)) || one.isMovedByIdleness(now))
  }

  /** The clock value at which, without more rows, all substreams are idle. */
  def idleAt: Option[Long] = emitter.idleAt(clock)

  /** Totals over all substreams, and reports of at most `most` of them.
    *
    * @param hidden name of an entry that is not an actual substream
    */
  def summary(
      most: Int,
      hidden: Option[String] = None,
      named: Option[String] = None
  ): SubstreamSummary = SubstreamSummary.of(table, idleTimeout, hidden, most, named)

  def report: Seq[SubstreamReport] = table.iterator.map(SubstreamReport.of(_, idleTimeout)).toSeq

  /** The result of a tick at `now`, without changing any state. */
  def lookAhead(now: Long): LookedAhead = {
    val at = Math.max(clock, now)
    val ahead = new MinActiveWatermark
    ahead.clear(table.highestRemoved)
    var i = 0
    while (i < table.size) {
      val one = table(i)
      val idle = isIdle(one, at)
      if (movesWithClock) ahead.add(idle, one.knownAt(at), one.watermarkAt(at))
      else ahead.add(idle, one.known, one.watermark)
      i += 1
    }
    LookedAhead(
      ahead.active == 0,
      emitter.emittedBy(at, ahead, ThrottleSpec.chain(throttles, grain))
    )
  }

  def saveWhole(out: DataOutput): Unit = save(out, whole = true)

  /** Saves the changes since the last save, to be restored on top of it. */
  def saveChanged(out: DataOutput): Unit = save(out, whole = false)

  /** Restores a whole record and the changes after it, in order; only for a new instance. */
  def restore(whole: DataInput, changes: Seq[DataInput] = Nil): Unit = {
    val since = new SharedSteps
    (whole +: changes).foreach(read(_, since))
    since.redo(table)
    steps.clear()
    target.foreach(of => table.learn(of.lag)) // other parameters may have another lag
    if (started) table.iterator.foreach(resume)
    invalidate()
  }

  // Whether a substream is idle at a clock value if it has no rows until then.
  private def isIdle(one: Substream, at: Long): Boolean =
    one.idle || idleTimeout.isDefined && at >= one.idleAt(timeout)

  private def invalidate(): Unit = {
    emitter.invalidate()
    clockChangesAt = Long.MinValue
  }

  // For a substream with more rows to be read, the time until these rows does not count.
  private def advanceByRows(now: Long): Unit = {
    val from = clock
    advance(now)
    if (anyPaused) table.iterator.filter(_.isPaused).foreach { one =>
      one.skip(from, clock)
      one.touch()
    }
  }

  private def advance(now: Long): Unit = {
    clock = Math.max(clock, now)
    started = true
  }

  private def observeNow(now: Long, index: Int, ts: Long): Boolean = {
    val substream = table(index)
    if (substream.idle) observeAndApplyClock(now, substream, ts)
    else {
      substream.observe(now, ts, rows = 1)
      emitter.released(index, substream) && offer()
    }
  }

  private def observeAndApplyClock(now: Long, substream: Substream, ts: Long): Boolean = {
    advanceByRows(now)
    substream.observe(clock, ts, rows = 1)
    substream.idle = false
    applyClock(ts)
  }

  /** Applies the clock to every substream, then offers the combined watermark. */
  private def applyClock(cap: Long): Boolean = {
    nextIdle = Long.MaxValue
    nextExpiry = Long.MaxValue
    anyBehind = false
    anyPaused = false
    if (movesWithClock) steps.clockApplied(clock, cap)
    emitter.begin()
    var i = 0
    while (i < table.size) {
      val substream = table(i)
      applyClock(substream, cap)
      emitter.add(substream)
      i += 1
    }
    val moved = emitter.offerAdded(clock)
    clockChangesAt = nextClockChange
    moved
  }

  private def applyClock(substream: Substream, cap: Long): Unit = {
    if (substream.isPaused) anyPaused = true
    else if (movesWithClock) {
      substream.applyClock(clock, cap)
      anyBehind |= substream.behind
    }
    if (idleTimeout.isDefined && !substream.idle) {
      val deadline = substream.idleAt(timeout)
      if (clock >= deadline) substream.idle = true else nextIdle = Math.min(nextIdle, deadline)
    }
    if (substream.idle && ttl.isDefined) nextExpiry = Math.min(nextExpiry, expiresAt(substream))
  }

  // An idle substream does not delay the watermark. When all are idle, the watermark of a forgotten
  // substream still counts, but the clock no longer moves it.
  private def removeExpired(): Unit = if (nextExpiry < Long.MaxValue && clock >= nextExpiry) {
    table.removeAll(one => one.idle && clock >= expiresAt(one))
    nextExpiry = table.iterator.filter(_.idle).map(expiresAt).minOption.getOrElse(Long.MaxValue)
    emitter.invalidate()
  }

  // Rounded up to `ttlGrid`, so that the check is rare. A substream without rows is not
  // forgotten.
  private def expiresAt(one: Substream): Long =
    if (one.rows == 0) Long.MaxValue else ttlGrid.ceiling(one.idleAt(ttl.get))

  private def offer(): Boolean = {
    val moved = emitter.offer(clock)
    clockChangesAt = nextClockChange
    moved
  }

  /** The earliest clock value at which the clock alone can change something. */
  private def nextClockChange: Long =
    if (anyBehind || anyPaused) clock
    else if (movesWithClock) Clamped.add(clock, 1)
    else Math.min(nextIdle, emitter.nextOfferAt(clock))

  private def resume(substream: Substream): Unit = {
    if (substream.isPaused) anyPaused = true else substream.catchUp(clock)
    updateIdle(substream)
  }

  private def updateIdle(substream: Substream): Unit =
    substream.idle = idleTimeout.exists(clock >= substream.idleAt(_))

  private def throttleNames: String = throttles.map(_.name).mkString(", ")

  private def save(out: DataOutput, whole: Boolean): Unit = {
    if (whole) steps.clear() // steps apply only to substreams saved before
    StateVersion.write(out, Substreams.Version)
    SavedText.write(out, spec.structure)
    SavedText.write(out, throttleNames)
    out.writeBoolean(started)
    out.writeLong(clock)
    emitter.save(out)
    steps.save(out)
    target.foreach(_.save(out))
    table.save(out, whole)
    steps.clear()
  }

  private def read(in: DataInput, since: SharedSteps): Unit = {
    StateVersion.read(in, "substreams", Substreams.Version)
    val saved = SavedText.read(in)
    if (saved != spec.structure) throw new IncompatibleState("substreams", saved, spec.structure)
    val hasSameThrottles = SavedText.read(in) == throttleNames
    started = in.readBoolean()
    clock = in.readLong()
    emitter.restore(in, hasSameThrottles, clock)
    since.read(in)
    target.foreach(_.restore(in))
    table.restore(in, since.count)
  }
}

object Substreams {
  private val Version = 4

  private val IdleTimeout =
    ParamSpec.positive(
      "substream_idle_timeout",
      "after this long without a row a substream is left out"
    )

  /** The name of the option. */
  val Ttl: String = "substream_ttl"
}
