package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** The frames of one key, and its windows as they close.
  *
  * A pending frame waits until a window that ends with it closes. A closed frame is retained while
  * an open window contains it. The instance is reused for one key after another: `begin` or `read`,
  * then `add`, then `next` until it returns false, then `write` unless it is empty.
  *
  *   - '''Guarantee:''' a window emits one result, if it has a frame, in ascending order of end.
  *     The work depends on the number of frames, never on the length of a gap.
  *   - '''Units:''' frame numbers.
  *   - '''Edges:''' a boundary above the 64-bit range is never reached.
  *   - '''Restart:''' `write` and `read` keep all state; the record has a version. If windows have
  *     closed since the last `write`, the record still contains them, and `discardClosedUpTo` skips
  *     them.
  *   - '''Source:''' Jet's `SlidingWindowP`, with state by key.
  */
final class FrameWindowState private (
    shape: WindowShape,
    pending: FrameQueue,
    closedFrames: SlidingAggregator
) {
  private var retained = Option.empty[FrameQueue]
  private var closedAt = 0L
  private var sum = FrameWindowState.NotYet

  /** Also adds each frame to `frames` when it closes; `frames` may retain it longer. */
  private[window] def keepIn(frames: FrameQueue): Unit = retained = Some(frames)

  /** The last closed boundary of this key. */
  def closed: Long = closedAt

  /** Begins a key without state; all boundaries up to `boundary` are closed. */
  def begin(boundary: Long): Unit = {
    pending.clear()
    closedFrames.clear()
    closedAt = boundary
    sum = FrameWindowState.NotYet
  }

  def isEmpty: Boolean = pending.isEmpty && closedFrames.isEmpty

  /** Closes the boundaries up to `boundary`, unless a window that ends by then has a result to
    * emit.
    */
  def advanceTo(boundary: Long): Unit =
    if (boundary > closedAt && due > boundary) closeUpTo(boundary)

  /** Closes the boundaries up to `boundary` without results, which have already been emitted. */
  def discardClosedUpTo(boundary: Long): Unit = while (next(boundary)) ()

  /** Merges `buffer`, which the caller keeps, into a frame; returns false if it is too late. */
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
    if (!closedFrames.isEmpty) shape.endAfter(closedAt)
    else if (!pending.isEmpty) shape.endAfter(pending.first)
    else FrameWindowState.Never

  /** Moves to the next window that ends at or before `boundary`; returns false if there is none. */
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
    closeUpTo(closedAt) // evicts the frames that only that result still needed
  }

  /** The end of the current window. */
  def end: Long = closedAt

  /** The frames of the current window as one buffer, valid until the next call of `next`. */
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
    retained.foreach(_.add(frame, buffer))
    closedFrames.push(frame, buffer)
  }

  private def closeUpTo(boundary: Long): Unit = {
    while (!pending.isEmpty && pending.first < boundary) closeFirst()
    closedAt = boundary
    closedFrames.evict(shape.startAfter(boundary))
  }

  def write(out: ByteSink): Unit = {
    out.putByte(FrameWindowState.Version)
    out.putNumber(closedAt)
    pending.write(out)
    out.putByte(if (closedFrames.isEmpty) 0 else 1)
    if (!closedFrames.isEmpty) closedFrames.write(out)
  }

  def read(in: ByteSource): Unit = {
    StateVersion.check(in.getByte(), "the frames of a key", FrameWindowState.Version)
    closedAt = in.getNumber()
    sum = FrameWindowState.NotYet
    pending.read(in)
    if (in.getByte() == 0) closedFrames.clear() else closedFrames.read(in)
  }
}

object FrameWindowState {

  /** The boundary for "no window closes". */
  val Never: Long = Long.MaxValue

  private val Version = 2

  /** The value of `sum` until `result` is called. */
  private val NotYet = -1

  /** Creates the state for windows of a shape.
    *
    * @param combining how the frames of sliding windows are combined
    * @param blockSize minimum number of frames kept together, in the state or in an archive block
    */
  def apply(
      shape: WindowShape,
      buffers: Buffers,
      combining: FrameCombining,
      archive: BlockStore,
      blockSize: Int
  ): FrameWindowState = {
    val closed = (shape, combining) match {
      case (WindowShape.OneFrame | _: Cumulative, _) => new RunningAggregate(buffers)
      case (_, FrameCombining.Deduct) => new SubtractOnEvict(buffers, archive, blockSize)
      case (_, FrameCombining.Merge) => new TwoStacks(buffers, archive, blockSize)
      case (_, FrameCombining.MergeDeducted) => new DeductedFrames(buffers, archive, blockSize)
    }
    new FrameWindowState(shape, new FrameQueue(buffers, archive, blockSize), closed)
  }
}
