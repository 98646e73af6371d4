package io.eventtide.kernel.window

/** A window state for results before or after a window closes; never saved. It is a copy of the
  * state of a key, which does not change.
  *
  * @param newState makes an empty state without blocks
  */
private[window] final class FrameStateCopy(newState: () => FrameWindowState) {
  private lazy val state = newState()
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

  /** Releases its buffers, which belong to the current key. */
  def release(): Unit = if (isUsed) {
    while (state.next(FrameWindowState.Never)) ()
    isUsed = false
  }

  /** Begins another key; buffers of the previous key are no longer valid. */
  def begin(): Unit = isUsed = false
}
