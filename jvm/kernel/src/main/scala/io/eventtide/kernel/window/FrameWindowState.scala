package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** The frames of one key, and its windows as they fall due.
  *
  * Open frames wait in order until a window that ends with them closes; closed ones stay for as long
  * as an open window holds them. Used for one key after another: `begin` or `read`, then `add`, then
  * `next` until it says no, then `write` unless it is empty.
  *
  *   - '''Guarantee:''' a window gives one result, if it has a frame; results come by ascending end.
  *     What is done depends on the frames that there are, never on the length of a gap.
  *   - '''Units:''' frame numbers.
  *   - '''Edges:''' a boundary above the 64-bit range is never reached.
  *   - '''Restart:''' `write` and `read` keep all of it; the record has a version. A ring that was
  *     not written after windows had closed is read as it was before, and passes over these.
  *   - '''Source:''' Jet's `SlidingWindowP`, with state by key.
  */
final class FrameWindowState private (
    shape: WindowShape,
    pending: FrameQueue,
    closedFrames: SlidingAggregator
) {
  private var history = Option.empty[FrameQueue]
  private var closedAt = 0L
  private var sum = FrameWindowState.NotYet

  /** Adds each frame to `frames` too when it closes: there it may stay for longer. */
  private[window] def keepIn(frames: FrameQueue): Unit = history = Some(frames)

  /** The last boundary that is closed for this key. */
  def closed: Long = closedAt

  /** Begins a key that has no state, with everything up to `boundary` closed. */
  def begin(boundary: Long): Unit = {
    pending.clear()
    closedFrames.clear()
    closedAt = boundary
    sum = FrameWindowState.NotYet
  }

  def isEmpty: Boolean = pending.isEmpty && closedFrames.isEmpty

  /** Passes over boundaries up to `boundary`, if no window that ends there is still to be given. */
  def advanceTo(boundary: Long): Unit =
    if (boundary > closedAt && due > boundary) closeUpTo(boundary)

  /** Passes over boundaries up to `boundary`, whose windows have been given. */
  def discardClosedUpTo(boundary: Long): Unit = while (next(boundary)) ()

  /** Adds what is in `buffer`, which stays the caller's, to a frame; false when it is too late. */
  def add(frame: Long, buffer: Int): Boolean =
    if (frame >= closedAt) {
      pending.add(frame, buffer)
      true
    } else {
      val open = shape.lastEnd(frame) > closedAt
      if (open) closedFrames.late(frame, buffer)
      open
    }

  /** The end of the next window that has a frame; `FrameWindowState.Never` if there is none. */
  def due: Long =
    if (!closedFrames.isEmpty) closedAt + 1
    else if (!pending.isEmpty) math.min(pending.first, FrameWindowState.Never - 1) + 1
    else FrameWindowState.Never

  /** Turns to the next window that ends at `boundary` or before; false when all have been given. */
  def next(boundary: Long): Boolean = {
    leaveResult()
    val end = due
    val gives = end <= boundary && end < FrameWindowState.Never
    if (gives) close(end)
    else if (boundary > closedAt) closeUpTo(boundary)
    gives
  }

  private def leaveResult(): Unit = {
    if (sum != FrameWindowState.NotYet) closedFrames.giveBack(sum)
    sum = FrameWindowState.NotYet
    closeUpTo(closedAt) // what that result was the last to hold
  }

  /** The end of the window that `next` turned to. */
  def end: Long = closedAt

  /** Its frames as one buffer, good until the next call of `next`. */
  def result: Int = {
    if (sum == FrameWindowState.NotYet) sum = closedFrames.total()
    sum
  }

  private def close(end: Long): Unit = {
    closeUpTo(end - 1)
    if (!pending.isEmpty && pending.first < end) closeFirst()
    closedAt = end
  }

  private def closeFirst(): Unit = {
    val frame = pending.first
    val buffer = pending.takeFirst()
    history.foreach(_.add(frame, buffer))
    closedFrames.push(frame, buffer)
  }

  private def closeUpTo(boundary: Long): Unit = {
    closedAt = boundary
    closedFrames.evict(shape.startAfter(boundary))
  }

  def write(out: ByteSink): Unit = {
    out.putByte(FrameWindowState.Version)
    out.putNumber(closedAt)
    pending.write(out)
    closedFrames.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the frames of a key", FrameWindowState.Version)
    closedAt = in.getNumber()
    sum = FrameWindowState.NotYet
    pending.read(in)
    closedFrames.read(in)
  }
}

object FrameWindowState {

  /** When nothing is due. */
  val Never: Long = Long.MaxValue

  private val Version = 1

  /** What `result` has not been asked for. */
  private val NotYet = -1

  /** The ring for windows of a shape: combined by deducting where the buffers can, else by two stacks.
    *
    * @param blockSize
    *   how many frames are kept together, in the ring or in a block of the archive, at the least
    */
  def apply(
      shape: WindowShape,
      buffers: Buffers,
      deducts: Boolean,
      archive: BlockStore,
      blockSize: Int
  ): FrameWindowState = {
    val closed = shape match {
      case Sliding(1) | _: Cumulative => new RunningAggregate(buffers)
      case _ if deducts => new SubtractOnEvict(buffers, archive, blockSize)
      case _ => new TwoStacks(buffers, archive, blockSize)
    }
    new FrameWindowState(shape, new FrameQueue(buffers, archive, blockSize), closed)
  }
}
