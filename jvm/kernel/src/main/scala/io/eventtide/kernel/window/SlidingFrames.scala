package io.eventtide.kernel.window

/** The closed frames of sliding windows: the oldest and newest in memory, the rest in blocks.
  *
  * A window gains a frame at its end and loses one at its start. Between them are blocks of about
  * `blockSize` frames. A block is written once, when the newest frames fill it, and read once, when
  * it becomes the oldest. The reads and writes per result therefore do not grow with the window
  * length.
  *
  * Subclasses maintain the running aggregates in the callbacks for frames that move.
  */
private[window] abstract class SlidingFrames(
    buffers: Buffers,
    archive: BlockStore,
    blockSize: Int
) extends SlidingAggregator {
  protected val oldest = new FrameList
  protected val newest = new FrameList
  private val stored = new FrameBlockStore(buffers, archive)

  /** The blocks between `oldest` and `newest`, by first frame. */
  protected def blocks: FrameList

  /** Called after a frame is appended to `newest`. */
  protected def inserted(buffer: Int): Unit

  /** Called after the frames of `newest` have become the last block. */
  protected def blockClosed(block: Long): Unit

  /** Called after `oldest` is refilled from the first block, or without blocks from `newest`. */
  protected def frontRefilled(fromBlock: Boolean): Unit

  /** Called before the first frame of `oldest` is evicted. */
  protected def leaves(buffer: Int): Unit

  /** Called for a late row in `oldest`, in the `i`-th block or in `newest`. For the latter two, the
    * frame is already updated.
    */
  protected def lateOldest(frame: Long, buffer: Int): Unit
  protected def lateBlock(i: Int, buffer: Int): Unit
  protected def lateNewest(buffer: Int): Unit

  final def isEmpty: Boolean = oldest.isEmpty && blocks.isEmpty && newest.isEmpty

  final def push(frame: Long, buffer: Int): Unit = {
    if (newest.size >= blockSize) blockClosed(stored.put(newest, 0, newest.size))
    newest.append(frame, buffer)
    inserted(buffer)
  }

  final def late(frame: Long, buffer: Int): Unit =
    if (isEmpty) {
      newest.merge(frame, buffer, buffers)
      inserted(buffer)
    } else if (!newest.isEmpty && frame >= newest.first) {
      newest.merge(frame, buffer, buffers)
      lateNewest(buffer)
    } else if (!blocks.isEmpty && frame >= blocks.first)
      lateInBlock(blocks.floor(frame), frame, buffer)
    else lateOldest(frame, buffer)

  private def lateInBlock(i: Int, frame: Long, buffer: Int): Unit = {
    stored.merge(blocks.frame(i), frame, buffer): Unit
    lateBlock(i, buffer)
  }

  final def evict(frame: Long): Unit = {
    leave(frame)
    while (oldest.isEmpty && startsBelow(frame)) {
      unfold()
      leave(frame)
    }
  }

  private def leave(frame: Long): Unit =
    while (!oldest.isEmpty && oldest.first < frame) {
      leaves(oldest.buffer(0))
      oldest.releaseFirst(buffers)
    }

  private def startsBelow(frame: Long): Boolean =
    if (blocks.isEmpty) !newest.isEmpty && newest.first < frame
    else blocks.first < frame

  private def unfold(): Unit =
    if (blocks.isEmpty) {
      oldest.take(newest, 0, newest.size)
      frontRefilled(fromBlock = false)
    } else {
      stored.take(blocks.first, oldest)
      frontRefilled(fromBlock = true)
    }

  def clear(): Unit = {
    oldest.clear()
    newest.clear()
    stored.clear()
  }

  def write(out: ByteSink): Unit = {
    stored.flush()
    oldest.write(out, buffers)
    newest.write(out, buffers)
  }

  def read(in: ByteSource): Unit = readFrames(in)

  protected final def readFrames(in: ByteSource): Unit = {
    stored.clear()
    oldest.read(in, buffers)
    newest.read(in, buffers)
  }

  /** The frames of a block, valid until the next call. */
  protected final def open(block: Long): FrameList = stored.open(block)
}
