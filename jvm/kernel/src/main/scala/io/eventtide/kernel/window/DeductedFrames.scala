package io.eventtide.kernel.window

/** Two stacks over frames that `SubtractOnEvict` has saved.
  *
  *   - '''Restart:''' `read` reads a record of `SubtractOnEvict`, and `write` writes a record of
  *     `TwoStacks`; blocks have the same format in both.
  */
private[window] final class DeductedFrames(buffers: Buffers, archive: BlockStore, blockSize: Int)
    extends TwoStacks(buffers, archive, blockSize) {

  override def read(in: ByteSource): Unit = {
    readFrames(in)
    blocks.readFrames(in)
    buffers.release(buffers.read(in)) // the total
    aggregateAll()
  }
}
