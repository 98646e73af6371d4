package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import scala.collection.mutable

import io.eventtide.kernel.time.Clamped

/** One substream: its policy, the watermark it has after the cap, and its signs of life.
  *
  *   - '''Guarantee:''' the watermark never goes back, whatever the policy or the cap says.
  *   - '''Edges:''' `behind` means that the cap holds the watermark below the policy's, or that a
  *     pause did; only then is it not what ticking the policy gives.
  *   - '''Restart:''' a record is saved when `touched`, by what happens to it alone; what happens to
  *     all is in `SharedSteps`.
  *
  * @param quietFrom the clock when it was declared
  * @param measuresSilence whether the policy does
  * @param changed where it notes itself when it is touched
  */
private[watermark] final class Substream(
    private var ownName: String,
    val policy: WatermarkPolicy,
    quietFrom: Long,
    measuresSilence: Boolean,
    changed: mutable.Buffer[Substream]
) {
  private var hasWatermark = false
  // the two maxima start where every value is at least as high: a row then needs no branch
  private var current = Long.MinValue // unread while `hasWatermark` is false
  private var topSeen = Long.MinValue // unread while `rowsSeen` is zero
  private var rowsSeen = 0L
  private var quiet = quietFrom // the clock at the last row, or when it was declared
  private var skipped = 0L // how much of the time since `quiet` does not count
  private var isBehind = true // also before its policy was first asked
  private var isAsked = false // its policy, which may remember when it first was
  private var unread: Backlog = Backlog.Unknown

  /** Left out of the minimum. */
  var idle: Boolean = false

  /** Active, and below the next target: kept by `Substreams`. */
  var holds: Boolean = true

  /** How many of the `SharedSteps` its record has; only read while all are restored. */
  var stepsBefore: Int = 0

  private var isTouched = false

  /** Has to be saved. */
  def touched: Boolean = isTouched

  def touch(): Unit = if (!isTouched) {
    isTouched = true
    changed += this
  }

  /** Is saved, or needs not be any more. */
  def settle(): Unit = isTouched = false

  def name: String = ownName

  def rename(to: String): Unit = {
    ownName = to
    touch()
  }

  def known: Boolean = hasWatermark

  /** The watermark after the cap; read it only when `known`. */
  def watermark: Long = current

  def rows: Long = rowsSeen

  def top: Long = topSeen

  def quietSince: Long = quiet

  def behind: Boolean = isBehind

  def backlog: Backlog = unread

  /** Its source says what it has more of it; true when that is new. */
  def tell(backlog: Backlog): Boolean = {
    val isNew = backlog != unread
    isBehind |= isPaused && isNew // the ticks of the pause did not reach its policy
    unread = backlog
    if (isNew) touch()
    isNew
  }

  /** Whether no tick moves it, as its source has more of it and its policy measures silence. */
  def isPaused: Boolean = measuresSilence && unread == Backlog.Waiting

  /** Whether silence until then would move its policy. */
  def isMovedBySilence(now: Long): Boolean =
    measuresSilence && hasWatermark && unread != Backlog.Waiting &&
      policy.dueAt(Clamped.add(current, 1)) <= now

  /** Waits for it anew, from this clock value on. */
  def restart(now: Long): Unit = {
    idle = false
    quiet = now
    skipped = 0
    touch()
  }

  def reached(target: Long): Boolean = hasWatermark && current >= target

  /** Rows below this cannot take it to `target` and need not be told before someone looks.
    *
    * None can when it is there already. The cap keeps a row from lifting it above the row itself.
    */
  def firstRowFor(target: Long): Long = {
    val needed = policy.firstRowFor(target)
    if (idle || !hasWatermark || needed == Long.MinValue) Long.MinValue
    else if (!holds) Long.MaxValue
    else if (policy.known && policy.watermark >= target) target
    else Math.max(needed, target)
  }

  /** The clock value from which on it is idle, if no row comes; the highest for never. */
  def idleAt(timeout: Long): Long =
    if (unread == Backlog.Waiting) Long.MaxValue
    else Clamped.add(Clamped.add(quiet, skipped), timeout)

  /** One row; the watermark comes up to the policy's, but not above `cap`. */
  def observe(now: Long, ts: Long, cap: Long): Unit = {
    policy.observe(now, ts)
    live(now, ts, 1)
    comeUp(cap)
  }

  /** Rows that were noted one by one, by their highest time, and the clock at the last of them. */
  def observePostponed(now: Long, top: Long, rows: Long): Unit = {
    policy.observe(now, top)
    live(now, top, rows)
    comeUp(top)
  }

  /** The rows of a batch. */
  def observe(now: Long, rows: SubstreamRows, cap: Long): Unit = {
    policy.observe(now, rows.maxTs, rows.minTs)
    live(now, rows.maxTs, rows.count)
    comeUp(cap)
  }

  /** The clock moves; the watermark comes up to the policy's, but not above `cap`. No tick moves one
    * that is paused.
    */
  def look(now: Long, cap: Long): Unit = if (!isPaused) {
    ask()
    policy.tick(now)
    comeUp(cap)
    isBehind = policy.known && current < policy.watermark
  }

  /** Whether it would have a watermark if the clock moved to `now`. */
  def knownAt(now: Long): Boolean = hasWatermark || !isPaused && policy.knownAt(now)

  /** What that would be; read it only when `knownAt`. */
  def watermarkAt(now: Long): Long = {
    val followed =
      if (isPaused || !policy.knownAt(now)) Long.MinValue else policy.watermarkAt(now)
    if (hasWatermark) Math.max(current, followed) else followed
  }

  /** The clock moves from `from` to `to`, and that time does not count. */
  def skip(from: Long, to: Long): Unit = {
    ask()
    policy.skip(to)
    skipped = Clamped.add(skipped, Math.max(0, Clamped.subtract(to, Math.max(from, quiet))))
  }

  /** The watermark is known elsewhere to be at least this. */
  def raise(to: Long): Unit = {
    current = Math.max(current, to)
    hasWatermark = true
    touch()
  }

  /** After a restore: brings the watermark to where ticks since the record was saved brought it. */
  def catchUp(now: Long): Unit = if (!isBehind) {
    policy.tick(now)
    comeUp(Long.MaxValue)
  }

  def save(out: DataOutput): Unit = {
    out.writeByte(flags)
    out.writeLong(current)
    out.writeLong(topSeen)
    out.writeLong(rowsSeen)
    out.writeLong(quiet)
    out.writeLong(skipped)
    policy.save(out)
  }

  private def flags: Int = (if (hasWatermark) 1 else 0) | (if (isBehind) 2 else 0) |
    (if (isAsked) 4 else 0) | unread.code << 3

  def restore(in: DataInput): Unit = {
    val flags = in.readUnsignedByte()
    hasWatermark = (flags & 1) != 0
    isBehind = (flags & 2) != 0
    isAsked = (flags & 4) != 0
    unread = Backlog.of(flags >> 3)
    current = in.readLong()
    topSeen = in.readLong()
    rowsSeen = in.readLong()
    quiet = in.readLong()
    skipped = in.readLong()
    policy.restore(in)
  }

  private def ask(): Unit = if (!isAsked) {
    isAsked = true
    touch()
  }

  private def live(now: Long, ts: Long, rows: Long): Unit = {
    topSeen = Math.max(topSeen, ts)
    rowsSeen += rows
    quiet = Math.max(quiet, now) // it may have been declared at a later clock value
    if (skipped != 0) skipped = 0 // a test that is always the same is cheaper than a store
    touch()
    if (!isAsked) isAsked = true
  }

  private def comeUp(cap: Long): Unit = if (policy.known) {
    val next = Math.min(policy.watermark, cap)
    current = Math.max(current, next)
    if (!hasWatermark) hasWatermark = true
  }
}
