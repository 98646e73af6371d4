package io.eventtide.kernel.window

/** Frames that mostly come at the end and are taken from the start, which are at hand.
  *
  * Few of them are one record. Of many, those between are put into blocks as the record is written,
  * so that it stays short. Blocks have as many frames as there are blocks, or `blockSize` if that is
  * more: so record and blocks grow alike.
  */
private[window] final class FrameQueue(
    buffers: Buffers,
    archive: BlockStore,
    blockSize: Int
) {
  private val oldest = new FrameList
  private val newest = new FrameList // never empty while there are others
  private val blocks = new FrameList // between them, by their first frames
  private val stored = new FrameBlockStore(buffers, archive)

  def isEmpty: Boolean = newest.isEmpty

  /** The first frame; asked when there is one. */
  def first: Long =
    if (!oldest.isEmpty) oldest.first
    else if (!blocks.isEmpty) blocks.first
    else newest.first

  /** Shows the frames from `start` on and below `end`, in order. */
  def foreach(start: Long, end: Long)(show: (Long, Int) => Unit): Unit = {
    oldest.foreach(start, end)(show)
    var i = math.max(0, blocks.floor(start))
    while (i < blocks.size && blocks.frame(i) < end && start < newest.first) {
      stored.open(blocks.frame(i)).foreach(start, end)(show)
      i += 1
    }
    newest.foreach(start, end)(show)
  }

  /** Adds what is in `buffer`, which stays the caller's. */
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

  /** Takes the first frame away, and gives its buffer to the caller. */
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

  /** Turns to a key without frames. */
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
