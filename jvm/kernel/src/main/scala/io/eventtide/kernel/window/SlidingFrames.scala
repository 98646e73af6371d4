package io.eventtide.kernel.window

/** The closed frames of sliding windows: the oldest and the newest at hand, the rest in blocks.
  *
  * A window takes a frame in at its end and loses one at its start; between them lie blocks of about
  * `blockSize` frames, written once when the newest frames fill one, and read once when it becomes the
  * oldest. So what is read and written for a result does not grow with the length of the window.
  *
  * The subclasses keep the running combination, by the moments at which a frame changes its place.
  */
private[window] abstract class SlidingFrames(
    buffers: Buffers,
    archive: BlockStore,
    blockSize: Int
) extends SlidingAggregator {
  protected val oldest = new FrameList
  protected val newest = new FrameList
  private val stored = new FrameBlockStore(buffers, archive)

  /** The blocks between, by their first frames. */
  protected def blocks: FrameList

  /** A frame has come to the end of `newest`. */
  protected def inserted(buffer: Int): Unit

  /** What was `newest` has become the last block. */
  protected def blockClosed(block: Long): Unit

  /** `oldest` has been filled, from the first block or, if there was none, from `newest`. */
  protected def frontRefilled(fromBlock: Boolean): Unit

  /** The first of `oldest` is about to leave. */
  protected def leaves(buffer: Int): Unit

  /** A late row adds to `oldest`, to the `i`-th block, to `newest`; the frame itself is done. */
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

  def read(in: ByteSource): Unit = {
    stored.clear()
    oldest.read(in, buffers)
    newest.read(in, buffers)
  }
}
