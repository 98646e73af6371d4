package io.eventtide.kernel.window

/** Combines the closed frames of a key that open windows still contain.
  *
  * Frames enter in order as they close, and are evicted in order as windows pass. A late row may
  * change a frame in between. Implementations differ only in how they combine frames.
  */
private[window] trait SlidingAggregator {

  def isEmpty: Boolean

  /** All frames as one buffer, valid until `giveBack`; requires at least one frame. */
  def total(): Int

  /** Returns the total to the aggregator. */
  def giveBack(total: Int): Unit

  /** Adds a frame that closes, later than all present frames; takes ownership of the buffer. */
  def push(frame: Long, buffer: Int): Unit

  /** Merges a late row into a closed frame. */
  def late(frame: Long, buffer: Int): Unit

  /** Evicts the frames below `frame`. */
  def evict(frame: Long): Unit

  /** Begins another key, without frames. */
  def clear(): Unit

  /** Writes the frames; requires at least one frame. */
  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

/** For tumbling and cumulative windows, whose frames are only evicted all together.
  *
  * Keeps one buffer, regardless of the number of frames.
  */
private[window] final class RunningAggregate(buffers: Buffers) extends SlidingAggregator {
  private var newest = 0L
  private var sum = -1

  def isEmpty: Boolean = sum < 0

  def total(): Int = sum

  def giveBack(total: Int): Unit = ()

  def push(frame: Long, buffer: Int): Unit = {
    newest = frame
    if (isEmpty) sum = buffer
    else {
      buffers.merge(sum, buffer)
      buffers.release(buffer)
    }
  }

  def late(frame: Long, buffer: Int): Unit = {
    newest = if (isEmpty) frame else math.max(newest, frame)
    if (isEmpty) sum = buffers.copy(buffer) else buffers.merge(sum, buffer)
  }

  def evict(frame: Long): Unit = if (!isEmpty && newest < frame) {
    buffers.release(sum)
    clear()
  }

  def clear(): Unit = sum = -1

  def write(out: ByteSink): Unit = {
    out.putNumber(newest)
    buffers.write(sum, out)
  }

  def read(in: ByteSource): Unit = {
    newest = in.getNumber()
    sum = buffers.read(in)
  }
}
