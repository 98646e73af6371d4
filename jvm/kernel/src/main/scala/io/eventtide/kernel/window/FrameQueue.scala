package io.eventtide.kernel.window

/** A queue of frames: mostly added at the end and taken from the start. Both ends are in memory.
  *
  * A short queue is one record. When a long queue is written, its middle frames are moved into
  * blocks, so that the record stays short. The number of frames in a new block equals the number of
  * blocks, but is at least `blockSize`. So the record and the blocks grow at the same rate.
  */
private[window] final class FrameQueue(
    buffers: Buffers,
    archive: BlockStore,
    blockSize: Int
) {
  private val oldest = new FrameList
  private val newest = new FrameList // never empty unless the queue is empty
  private val blocks = new FrameList // the blocks between `oldest` and `newest`, by first frame
  private val stored = new FrameBlockStore(buffers, archive)

  def isEmpty: Boolean = newest.isEmpty

  /** The first frame; requires a queue that is not empty. */
  def first: Long =
    if (!oldest.isEmpty) oldest.first
    else if (!blocks.isEmpty) blocks.first
    else newest.first

  /** Passes the frames in `[start, end)` to `show`, in order. */
  def foreach(start: Long, end: Long)(show: (Long, Int) => Unit): Unit = {
    oldest.foreach(start, end)(show)
    var i = math.max(0, blocks.floor(start))
    while (i < blocks.size && blocks.frame(i) < end && start < newest.first) {
      stored.open(blocks.frame(i)).foreach(start, end)(show)
      i += 1
    }
    newest.foreach(start, end)(show)
  }

  /** Merges `buffer` into `frame`; the caller keeps `buffer`. */
  def add(frame: Long, buffer: Int): Unit =
    if (oldest.isEmpty && blocks.isEmpty || frame >= newest.first)
      newest.merge(frame, buffer, buffers)
    else if (!blocks.isEmpty && frame >= blocks.first)
      addToBlock(blocks.floor(frame), frame, buffer)
    else oldest.merge(frame, buffer, buffers)

  private def addToBlock(i: Int, frame: Long, buffer: Int): Unit = {
    val length = stored.merge(blocks.frame(i), frame, buffer)
    if (isLong(length)) blocks.insert(i + 1, stored.split(size), FrameQueue.NoBuffer)
  }

  /** Removes the first frame and returns its buffer, which the caller then owns. */
  def takeFirst(): Int = {
    if (oldest.isEmpty && !blocks.isEmpty) {
      stored.take(blocks.first, oldest)
      blocks.dropFirst()
    }
    val frames = if (oldest.isEmpty) newest else oldest
    val buffer = frames.buffer(0)
    frames.dropFirst()
    buffer
  }

  private def size: Int = math.max(blockSize, blocks.size)

  private def isLong(frames: Int): Boolean = frames / 2 >= size

  private def settle(): Unit = {
    stored.flush()
    while (isLong(newest.size)) blocks.append(stored.put(newest, 0, size), FrameQueue.NoBuffer)
    while (isLong(oldest.size)) {
      val last = stored.put(oldest, oldest.size - size, oldest.size)
      blocks.insert(0, last, FrameQueue.NoBuffer)
    }
  }

  /** Begins a key without frames. */
  def clear(): Unit = {
    oldest.clear()
    newest.clear()
    blocks.clear()
    stored.clear()
  }

  def write(out: ByteSink): Unit = {
    settle()
    oldest.write(out, buffers)
    newest.write(out, buffers)
    blocks.writeFrames(out)
  }

  def read(in: ByteSource): Unit = {
    stored.clear()
    oldest.read(in, buffers)
    newest.read(in, buffers)
    blocks.readFrames(in)
  }
}

private object FrameQueue {
  private val NoBuffer = -1
}
