package io.eventtide.kernel.window

/** Combines sliding frames in one running total, from which an evicted frame is deducted.
  *
  *   - '''Guarantee:''' exact if `deduct` is exact; two operations per result.
  *   - '''Edges:''' the total is reset when the last frame is evicted.
  *   - '''Source:''' Jet's `SlidingWindowP` with `deductFn`.
  */
private[window] final class SubtractOnEvict(buffers: Buffers, archive: BlockStore, blockSize: Int)
    extends SlidingFrames(buffers, archive, blockSize) {
  protected val blocks = new FrameList
  private var all = -1 // the total; valid only while there is a frame

  def total(): Int = all

  def giveBack(total: Int): Unit = ()

  protected def inserted(buffer: Int): Unit = {
    if (oldest.isEmpty && blocks.isEmpty && newest.size == 1) all = buffers.copy(buffer)
    else buffers.merge(all, buffer)
  }

  protected def blockClosed(block: Long): Unit = blocks.append(block, -1)

  protected def frontRefilled(fromBlock: Boolean): Unit = if (fromBlock) blocks.dropFirst()

  protected def leaves(buffer: Int): Unit =
    if (oldest.size == 1 && blocks.isEmpty && newest.isEmpty) buffers.release(all)
    else buffers.deduct(all, buffer)

  protected def lateOldest(frame: Long, buffer: Int): Unit = {
    oldest.merge(frame, buffer, buffers)
    buffers.merge(all, buffer)
  }

  protected def lateBlock(i: Int, buffer: Int): Unit = buffers.merge(all, buffer)

  protected def lateNewest(buffer: Int): Unit = buffers.merge(all, buffer)

  override def clear(): Unit = {
    super.clear()
    blocks.clear()
  }

  override def write(out: ByteSink): Unit = {
    super.write(out)
    blocks.writeFrames(out)
    buffers.write(all, out)
  }

  override def read(in: ByteSource): Unit = {
    super.read(in)
    blocks.readFrames(in)
    all = buffers.read(in)
  }
}
