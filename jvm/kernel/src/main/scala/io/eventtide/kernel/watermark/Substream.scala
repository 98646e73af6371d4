package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import scala.collection.mutable

import io.eventtide.kernel.time.Clamped

/** One substream: its policy, its watermark after the cap, and its activity.
  *
  *   - '''Guarantee:''' the watermark never goes back, independent of the policy and the cap.
  *   - '''Edges:''' `behind` means that a cap or a pause keeps the watermark below the policy's
  *     watermark. Only then does ticking the policy not give the watermark.
  *   - '''Restart:''' a record is saved if the substream is `touched` by a change that affects it
  *     alone; changes that affect all substreams are in `SharedSteps`.
  *
  * @param declaredAt clock value at its declaration
  * @param changed buffer that a touched substream adds itself to
  */
private[watermark] final class Substream(
    private var currentName: String,
    private var spec: PolicySpec,
    declaredAt: Long,
    changed: mutable.Buffer[Substream]
) {
  private var ownPolicy = spec.create()
  private var measuresIdleness = spec.measuresIdleness
  private var hasWatermark = false
  // Both maxima start at the lowest value, so that a row needs no branch.
  private var current = Long.MinValue // not read while `hasWatermark` is false
  private var topSeen = Long.MinValue // not read while `rowsSeen` is zero
  private var rowsSeen = 0L
  private var inactiveFrom = declaredAt // the clock at the last row, or at the declaration
  private var skipped = 0L // the part of the time since `inactiveFrom` that does not count
  private var isBehind = true // also true before the first call of its policy
  private var hasCalledPolicy =
    false // whether its policy was called; it may store its first clock value
  private var currentBacklog: Backlog = Backlog.Unknown

  /** Whether it is idle and left out of the minimum. */
  var idle: Boolean = false

  /** Whether it is active and below the next target; maintained by `WatermarkEmitter`. */
  var isBlocking: Boolean = true

  /** The number of `SharedSteps` that its record includes; read only during a restore. */
  var stepsBefore: Int = 0

  private var isTouched = false

  /** Whether it must be saved. */
  def touched: Boolean = isTouched

  def touch(): Unit = if (!isTouched) {
    isTouched = true
    changed += this
  }

  /** Marks it as saved, or as removed. */
  def markSaved(): Unit = isTouched = false

  def name: String = currentName

  def policy: WatermarkPolicy = ownPolicy

  /** Renames it. If the new name has another policy, that policy begins: the substream has had no
    * rows.
    */
  def rename(to: String, by: PolicySpec): Unit = {
    currentName = to
    if (by != spec) {
      spec = by
      ownPolicy = by.create()
      measuresIdleness = by.measuresIdleness
      isBehind = true
      hasCalledPolicy = false
    }
    touch()
  }

  def known: Boolean = hasWatermark

  /** The watermark after the cap; read it only when `known`. */
  def watermark: Long = current

  def rows: Long = rowsSeen

  def top: Long = topSeen

  def inactiveSince: Long = inactiveFrom

  def behind: Boolean = isBehind

  def backlog: Backlog = currentBacklog

  /** Sets the backlog that its source reports; returns true if it changed. */
  def updateBacklog(backlog: Backlog): Boolean = {
    val isNew = backlog != currentBacklog
    isBehind |= isPaused && isNew // the ticks of the pause did not reach its policy
    currentBacklog = backlog
    if (isNew) touch()
    isNew
  }

  /** Whether ticks do not move it, because it has a backlog and its policy measures idleness. */
  def isPaused: Boolean = measuresIdleness && currentBacklog == Backlog.Pending

  /** Whether no rows until `now` would advance its watermark. */
  def isMovedByIdleness(now: Long): Boolean =
    measuresIdleness && hasWatermark && currentBacklog != Backlog.Pending &&
      policy.dueAt(Clamped.add(current, 1)) <= now

  /** Makes it active again; its idle timeout starts at `now`. */
  def restart(now: Long): Unit = {
    idle = false
    inactiveFrom = now
    skipped = 0
    touch()
  }

  def reached(target: Long): Boolean = hasWatermark && current >= target

  /** The lowest event time of a row that can take it to `target`; lower rows may be deferred.
    *
    * If it is at `target` already, no row can. The cap limits the watermark to the row's event
    * time. `Long.MinValue` means that no row may be deferred.
    */
  def firstRowFor(target: Long): Long = {
    val needed = policy.firstRowFor(target)
    if (idle || !hasWatermark || needed == Long.MinValue) Long.MinValue
    else if (!isBlocking) Long.MaxValue
    else if (policy.known && policy.watermark >= target) target
    else Math.max(needed, target)
  }

  /** The clock value from which on it is idle, if no row comes; `Long.MaxValue` for never. */
  def idleAt(timeout: Long): Long =
    if (currentBacklog == Backlog.Pending) Long.MaxValue
    else Clamped.add(Clamped.add(inactiveFrom, skipped), timeout)

  /** Applies single rows: their highest time, their number and the clock at the last one. The
    * watermark rises to the policy's, but not above `top`.
    */
  def observe(now: Long, top: Long, rows: Long): Unit = {
    policy.observe(now, top)
    recordRows(now, top, rows)
    followPolicy(top)
  }

  /** Applies the rows of a batch; the watermark rises to the policy's, but not above `cap`. */
  def observe(now: Long, rows: SubstreamRows, cap: Long): Unit = {
    policy.observe(now, rows.maxTs, rows.minTs)
    if (rows.mark != SubstreamRows.NoMark) policy.observeMark(rows.mark)
    recordRows(now, rows.maxTs, rows.count)
    followPolicy(cap)
  }

  /** Moves the clock; the watermark rises to the policy's, but not above `cap`. Has no effect on a
    * paused substream.
    */
  def applyClock(now: Long, cap: Long): Unit = if (!isPaused) {
    markPolicyCalled()
    policy.tick(now)
    followPolicy(cap)
    isBehind = policy.known && current < policy.watermark
  }

  /** Takes the lag that the query has learnt. The watermark rises to the policy's, unless the clock
    * moves it: then it does so with the clock, under a cap.
    */
  def learn(lag: Long): Unit = {
    policy.learn(lag)
    if (!spec.movesWithClock) followPolicy(Long.MaxValue)
  }

  /** Whether it would have a watermark if the clock moved to `now`. */
  def knownAt(now: Long): Boolean = hasWatermark || !isPaused && policy.knownAt(now)

  /** The watermark at `now`; read it only when `knownAt`. */
  def watermarkAt(now: Long): Long = {
    val followed =
      if (isPaused || !policy.knownAt(now)) Long.MinValue else policy.watermarkAt(now)
    if (hasWatermark) Math.max(current, followed) else followed
  }

  /** Moves the clock from `from` to `to`; the time between does not count. */
  def skip(from: Long, to: Long): Unit = {
    markPolicyCalled()
    policy.skip(to)
    skipped = Clamped.add(skipped, Math.max(0, Clamped.subtract(to, Math.max(from, inactiveFrom))))
  }

  /** After a restore: applies to the watermark the ticks since the record was saved. */
  def catchUp(now: Long): Unit = if (!isBehind) {
    policy.tick(now)
    followPolicy(Long.MaxValue)
  }

  def save(out: DataOutput): Unit = {
    out.writeByte(flags)
    out.writeLong(current)
    out.writeLong(topSeen)
    out.writeLong(rowsSeen)
    out.writeLong(inactiveFrom)
    out.writeLong(skipped)
    policy.save(out)
  }

  private def flags: Int = (if (hasWatermark) 1 else 0) | (if (isBehind) 2 else 0) |
    (if (hasCalledPolicy) 4 else 0) | currentBacklog.code << 3

  def restore(in: DataInput): Unit = {
    val flags = in.readUnsignedByte()
    hasWatermark = (flags & 1) != 0
    isBehind = (flags & 2) != 0
    hasCalledPolicy = (flags & 4) != 0
    currentBacklog = Backlog.of(flags >> 3)
    current = in.readLong()
    topSeen = in.readLong()
    rowsSeen = in.readLong()
    inactiveFrom = in.readLong()
    skipped = in.readLong()
    policy.restore(in)
  }

  private def markPolicyCalled(): Unit = if (!hasCalledPolicy) {
    hasCalledPolicy = true
    touch()
  }

  private def recordRows(now: Long, ts: Long, rows: Long): Unit = {
    topSeen = Math.max(topSeen, ts)
    rowsSeen += rows
    inactiveFrom = Math.max(inactiveFrom, now) // it may have been declared at a later clock value
    if (skipped != 0) skipped = 0 // a predictable branch is cheaper than a store
    touch()
    if (!hasCalledPolicy) hasCalledPolicy = true
  }

  private def followPolicy(cap: Long): Unit = if (policy.known) {
    val next = Math.min(policy.watermark, cap)
    current = Math.max(current, next)
    if (!hasWatermark) hasWatermark = true
  }
}
