package io.eventtide.kernel.window

/** A window state for results that leave the state of the key as it is; never saved.
  *
  * @param blocks the blocks of the key, which do not change
  */
private[window] final class FrameStateCopy(
    newState: BlockStore => FrameWindowState,
    blocks: BlockStore
) {
  private val overlay = new CopyOnWriteBlockStore(blocks)
  private lazy val state = newState(overlay)
  private val written = new ByteSink
  private val source = new ByteSource

  /** A copy, valid until the next call. */
  def of(original: FrameWindowState): FrameWindowState = {
    written.reset(0)
    original.write(written)
    source.reset(written.bytes, 0)
    overlay.clear()
    state.read(source)
    state
  }

  /** An empty state whose boundaries up to `closed` are closed, valid until the next call. */
  def empty(closed: Long): FrameWindowState = {
    overlay.clear()
    state.begin(closed)
    state
  }
}
