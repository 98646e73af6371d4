package io.eventtide.kernel.window

/** A window state for results before or after a window closes; never saved. It is taken from the state
  * of a key, which it leaves as it is, though that may move frames into blocks as it does when it is
  * written.
  *
  * @param blocks the blocks of the key, which the copy does not change
  */
private[window] final class FrameStateCopy(
    newState: BlockStore => FrameWindowState,
    blocks: BlockStore
) {
  private val overlay = new CopyOnWriteBlockStore(blocks)
  private lazy val state = newState(overlay)
  private val written = new ByteSink
  private val source = new ByteSource
  private var isUsed = false

  /** A copy, valid until the next call. */
  def of(original: FrameWindowState): FrameWindowState = {
    release()
    written.reset(0)
    original.write(written)
    source.reset(written.bytes, 0)
    state.read(source)
    isUsed = true
    state
  }

  /** An empty state whose boundaries up to `closed` are closed, valid until the next call. */
  def empty(closed: Long): FrameWindowState = {
    release()
    state.begin(closed)
    isUsed = true
    state
  }

  /** Releases its buffers, which are those of the current key. */
  def release(): Unit = if (isUsed) {
    while (state.next(FrameWindowState.Never)) ()
    overlay.clear()
    isUsed = false
  }

  /** Begins another key; its buffers are not those of the key before. */
  def begin(): Unit = {
    overlay.clear()
    isUsed = false
  }
}
