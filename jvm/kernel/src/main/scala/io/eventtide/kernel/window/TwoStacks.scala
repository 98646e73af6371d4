package io.eventtide.kernel.window

/** Combines sliding frames without an inverse, in three merges per result, amortised.
  *
  * Each buffer in `oldest` is combined with all later buffers in `oldest`. The first buffer is
  * therefore the total, and its eviction leaves the total of the rest. `newest` has one running
  * aggregate. The blocks in between are combined in the same way, one level up.
  *
  *   - '''Guarantee:''' a result merges at most four buffers, in time order.
  *   - '''Edges:''' a late row costs one merge per earlier frame in `oldest`, or per earlier block.
  *   - '''Source:''' two stacks, in Tangwongsan, Hirzel, Schneider, "Low-latency sliding-window
  *     aggregation in worst-case constant time" (DEBS 2017); the blocks are an Eventtide extension.
  */
private[window] class TwoStacks(buffers: Buffers, archive: BlockStore, blockSize: Int)
    extends SlidingFrames(buffers, archive, blockSize) {
  protected val blocks = new FrameList
  private var turned = 0 // number of leading blocks, each combined with the turned blocks after it
  private var restOfBlocks = TwoStacks.NoBuffer // aggregate of the blocks that are not turned
  private var allOfNewest = TwoStacks.NoBuffer

  def total(): Int = {
    val all = if (oldest.isEmpty) buffers.fresh() else buffers.copy(oldest.buffer(0))
    if (turned > 0) buffers.merge(all, blocks.buffer(0))
    if (blocks.size > turned) buffers.merge(all, restOfBlocks)
    if (!newest.isEmpty) buffers.merge(all, allOfNewest)
    all
  }

  def giveBack(total: Int): Unit = buffers.release(total)

  protected def inserted(buffer: Int): Unit = {
    if (newest.size == 1) allOfNewest = buffers.copy(buffer)
    else buffers.merge(allOfNewest, buffer)
  }

  protected def blockClosed(block: Long): Unit = {
    if (blocks.size == turned) restOfBlocks = buffers.copy(allOfNewest)
    else buffers.merge(restOfBlocks, allOfNewest)
    blocks.append(block, allOfNewest)
  }

  protected def frontRefilled(fromBlock: Boolean): Unit = {
    combineBackwards(oldest, oldest.size)
    if (fromBlock) {
      if (turned == 0) turn()
      blocks.releaseFirst(buffers)
      turned -= 1
    } else buffers.release(allOfNewest)
  }

  private def turn(): Unit = {
    turned = blocks.size
    combineBackwards(blocks, turned)
    buffers.release(restOfBlocks)
  }

  protected def leaves(buffer: Int): Unit = ()

  protected def lateOldest(frame: Long, buffer: Int): Unit = {
    val i = oldest.floor(frame)
    if (i < 0 || oldest.frame(i) < frame) {
      val own = buffers.fresh()
      if (i + 1 < oldest.size) buffers.merge(own, oldest.buffer(i + 1))
      oldest.insert(i + 1, frame, own)
    }
    mergeUpTo(oldest, oldest.floor(frame), buffer)
  }

  protected def lateBlock(i: Int, buffer: Int): Unit =
    if (i < turned) mergeUpTo(blocks, i, buffer)
    else {
      buffers.merge(blocks.buffer(i), buffer)
      buffers.merge(restOfBlocks, buffer)
    }

  protected def lateNewest(buffer: Int): Unit = buffers.merge(allOfNewest, buffer)

  private def mergeUpTo(frames: FrameList, last: Int, buffer: Int): Unit = {
    var i = 0
    while (i <= last) {
      buffers.merge(frames.buffer(i), buffer)
      i += 1
    }
  }

  private def combineBackwards(frames: FrameList, count: Int): Unit = {
    var i = count - 2
    while (i >= 0) {
      buffers.merge(frames.buffer(i), frames.buffer(i + 1))
      i -= 1
    }
  }

  override def clear(): Unit = {
    super.clear()
    blocks.clear()
    turned = 0
  }

  /** Computes the aggregates from the frames only. */
  protected final def aggregateAll(): Unit = {
    combineBackwards(oldest, oldest.size)
    allOfNewest = sumOf(newest)
    turned = 0
    var i = 0
    while (i < blocks.size) {
      blocks.set(i, sumOf(open(blocks.frame(i))))
      i += 1
    }
    restOfBlocks = sumOf(blocks)
  }

  private def sumOf(frames: FrameList): Int = {
    var sum = TwoStacks.NoBuffer
    var i = 0
    while (i < frames.size) {
      if (i == 0) sum = buffers.copy(frames.buffer(0)) else buffers.merge(sum, frames.buffer(i))
      i += 1
    }
    sum
  }

  override def write(out: ByteSink): Unit = {
    super.write(out)
    if (!newest.isEmpty) buffers.write(allOfNewest, out)
    blocks.write(out, buffers)
    out.putCount(turned.toLong)
    if (blocks.size > turned) buffers.write(restOfBlocks, out)
  }

  override def read(in: ByteSource): Unit = {
    super.read(in)
    if (!newest.isEmpty) allOfNewest = buffers.read(in)
    blocks.read(in, buffers)
    turned = in.getCount().toInt
    if (blocks.size > turned) restOfBlocks = buffers.read(in)
  }
}

private object TwoStacks {
  private val NoBuffer = -1
}
