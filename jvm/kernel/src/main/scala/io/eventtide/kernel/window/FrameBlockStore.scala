package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** Frames of one key in blocks of an archive, of which one at a time is at hand.
  *
  * A block is named by its first frame, which it keeps for as long as it is there. So the closed and
  * the pending frames of a key may share an archive: no frame is both, and no block has both.
  */
private[window] final class FrameBlockStore(buffers: Buffers, archive: BlockStore) {
  private val atHand = new FrameList
  private val leaving = new FrameList
  private var isChanged = false // what is at hand is not in the archive yet

  /** Moves a part of `frames` into a new block; answers its name. */
  def put(frames: FrameList, from: Int, until: Int): Long = {
    leaving.take(frames, from, until)
    write(leaving)
    val name = leaving.first
    leaving.release(buffers)
    name
  }

  /** Moves all frames of a block to the end of `into`. */
  def take(block: Long, into: FrameList): Unit = {
    load(block)
    archive.remove(block)
    into.take(atHand, 0, atHand.size)
    isChanged = false
  }

  /** Adds to a block what is in `buffer`, for a frame after its first; answers how long it is. */
  def merge(block: Long, frame: Long, buffer: Int): Int = {
    load(block)
    atHand.merge(frame, buffer, buffers)
    isChanged = true
    atHand.size
  }

  /** Moves what the block at hand has from a position on into a new one; answers its name. */
  def split(at: Int): Long = {
    isChanged = true
    put(atHand, at, atHand.size)
  }

  /** The frames of a block, good until the next call. */
  def open(block: Long): FrameList = {
    load(block)
    atHand
  }

  private def load(block: Long): Unit = if (atHand.isEmpty || atHand.first != block) {
    flush()
    atHand.release(buffers)
    val in = archive.read(block)
    StateVersion.check(in.getByte(), "a block of frames", FrameBlockStore.Version)
    atHand.read(in, buffers)
  }

  /** All that was done is in the archive after this. */
  def flush(): Unit = if (isChanged) {
    write(atHand)
    isChanged = false
  }

  private def write(frames: FrameList): Unit = {
    val out = archive.sink()
    out.putByte(FrameBlockStore.Version)
    frames.write(out, buffers)
    archive.write(frames.first, out)
  }

  /** Turns to another key. */
  def clear(): Unit = {
    atHand.clear()
    isChanged = false
  }
}

private object FrameBlockStore {
  private val Version = 1
}
