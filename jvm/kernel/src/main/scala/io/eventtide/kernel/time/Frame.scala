package io.eventtide.kernel.time

import io.eventtide.kernel.InvalidArgument

/** The grid of boundaries `offset + n * size` that divides time into frames.
  *
  *   - '''Guarantee:''' `floor(ts) <= ts`, `ts <= ceiling(ts)`, `ts < higher(ts)`. If the boundary
  *     is outside the 64-bit range, the result is the end of the range.
  *   - '''Units:''' any, the same for all times.
  *   - '''Edges:''' negative times use the mathematical floor. `higher` and `ceiling` are clamped
  *     once, after the sum, so a floor outside the range does not affect them.
  *   - '''Source:''' Jet's `SlidingWindowPolicy.floorFrameTs` and `higherFrameTs`.
  *
  * @param size distance between two boundaries, more than zero
  * @param offset position of a boundary, from 0 to `size - 1`
  */
final case class Frame(size: Long, offset: Long = 0) extends FrameGrid {
  if (size <= 0) throw new InvalidArgument("frame size", size, "more than zero")
  if (offset < 0 || offset >= size)
    throw new InvalidArgument("frame offset", offset, s"zero or more and below the size $size")

  /** The highest boundary at or below `ts`. */
  def floor(ts: Long): Long = Clamped.subtract(ts, past(ts))

  /** The lowest boundary above `ts`. */
  def higher(ts: Long): Long = Clamped.add(ts, size - past(ts))

  /** The lowest boundary at or above `ts`. */
  def ceiling(ts: Long): Long = {
    val over = past(ts)
    if (over == 0) ts else Clamped.add(ts, size - over)
  }

  private val inverse = 1.0 / size

  // The boundary at `offset` has number 0. A time before the offset is in the previous frame.
  def index(ts: Long): Long =
    if (ts >= offset && ts < Frame.Exact) quotient(ts - offset)
    else Math.floorDiv(ts, size) - (if (Math.floorMod(ts, size) < offset) 1 else 0)

  // Called for each row: to divide whole numbers takes a processor several times as long.
  private def quotient(past: Long): Long = {
    val near = (past * inverse).toLong // at most one off
    val rest = past - near * size
    if (rest < 0) near - 1 else if (rest >= size) near + 1 else near
  }

  // Both terms have the same sign, so a product that is clamped stays clamped in the sum.
  def start(index: Long): Long =
    if (index >= 0) Clamped.add(Clamped.multiply(index, size), offset)
    else Clamped.add(Clamped.multiply(index + 1, size), offset - size)

  /** The distance from the boundary at or below `ts`, from 0 to `size - 1`; cannot overflow. */
  private def past(ts: Long): Long = {
    val over = Math.floorMod(ts, size) - offset
    if (over < 0) over + size else over
  }
}

object Frame {

  /** Whole numbers below this are exact as floating point numbers. */
  private val Exact = 1L << 52
}
