package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

/** The highest value so far, if any.
  *
  *   - '''Guarantee:''' monotonic.
  *   - '''Restart:''' saved as part of its owner (known, value), without a version byte.
  */
private[kernel] final class MonotonicMax {
  private var any = false
  private var highest = 0L // not read while `any` is false

  def known: Boolean = any

  /** Read it only when `known`. */
  def value: Long = highest

  def toOption: Option[Long] = Option.when(any)(highest)

  /** Returns true when the value is the first or above the highest. */
  def raise(to: Long): Boolean = {
    val moves = !any || to > highest
    if (moves) { any = true; highest = to }
    moves
  }

  def save(out: DataOutput): Unit = {
    out.writeBoolean(any)
    out.writeLong(highest)
  }

  def restore(in: DataInput): Unit = {
    any = in.readBoolean()
    highest = in.readLong()
  }
}
