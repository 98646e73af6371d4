package io.eventtide.kernel.window

/** The closed frames of a key that open windows still hold, combined.
  *
  * Frames enter in order as they close and leave in order as windows pass; a late row may add to one
  * in between. How they are combined is the one thing in which the ways differ.
  */
private[window] trait SlidingAggregator {

  def isEmpty: Boolean

  /** All frames as one buffer, good until it is given back; asked when there is one. */
  def total(): Int

  /** Takes the total back. */
  def giveBack(total: Int): Unit

  /** A frame closes: it is later than all that are here. The buffer is given away. */
  def push(frame: Long, buffer: Int): Unit

  /** A late row adds to a frame that is closed. */
  def late(frame: Long, buffer: Int): Unit

  /** The frames below `frame` leave. */
  def evict(frame: Long): Unit

  /** Begins another key, with no frames. */
  def clear(): Unit

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

/** For windows that follow each other, and grow if they do: nothing leaves but all at once.
  *
  * One buffer is kept, whatever the number of frames.
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
    out.putByte(if (isEmpty) 0 else 1)
    if (!isEmpty) {
      out.putNumber(newest)
      buffers.write(sum, out)
    }
  }

  def read(in: ByteSource): Unit = {
    clear()
    if (in.getByte() == 1) {
      newest = in.getNumber()
      sum = buffers.read(in)
    }
  }
}
