package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

/** The highest value so far, or none yet: what "never goes back" is made of.
  *
  *   - '''Guarantee:''' monotone.
  *   - '''Restart:''' saved as a part of its owner, known and value, without a version of its own.
  */
private[kernel] final class MonotonicMax {
  private var any = false
  private var highest = 0L // unread while `any` is false

  def known: Boolean = any

  /** Read it only when `known`. */
  def value: Long = highest

  def toOption: Option[Long] = Option.when(any)(highest)

  /** True when the value is the first or a higher one. */
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
