package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.time.Clamped

/** The clock of a policy: the highest value received, and the highest value that counted.
  *
  *   - '''Guarantee:''' neither value goes back.
  *   - '''Edges:''' before the first call it has not `started`. After skips only, it has started,
  *     but is not `credited`.
  *   - '''Restart:''' the owning policy saves both values.
  */
private[watermark] final class PolicyClock {
  private var hasStarted = false
  private var isCredited = false
  private var highest = 0L
  private var counted = 0L

  def started: Boolean = hasStarted

  /** The highest value received so far; read it only when `started`. */
  def now: Long = highest

  /** Whether any clock value counted. */
  def credited: Boolean = isCredited

  /** The highest value that counted; read it only when `credited`. */
  def counting: Long = counted

  /** Whether `tick` would move it. */
  def moves(to: Long): Boolean = !hasStarted || to > highest

  /** Moves the clock; returns true if it moved. */
  def tick(to: Long): Boolean = {
    val moves = move(to)
    if (moves) { isCredited = true; counted = to }
    moves
  }

  /** Moves the clock without counting the time; returns the distance. */
  def skip(to: Long): Long = {
    val from = if (hasStarted) highest else to
    if (move(to)) Clamped.subtract(to, from) else 0
  }

  def save(out: DataOutput): Unit = {
    out.writeByte((if (hasStarted) 1 else 0) | (if (isCredited) 2 else 0))
    out.writeLong(highest)
    out.writeLong(counted)
  }

  def restore(in: DataInput): Unit = {
    val flags = in.readUnsignedByte()
    hasStarted = (flags & 1) != 0
    isCredited = (flags & 2) != 0
    highest = in.readLong()
    counted = in.readLong()
  }

  private def move(to: Long): Boolean = {
    val moved = moves(to)
    if (moved) { hasStarted = true; highest = to }
    moved
  }
}
