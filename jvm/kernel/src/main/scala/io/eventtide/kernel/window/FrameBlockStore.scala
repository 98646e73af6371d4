package io.eventtide.kernel.window

import io.eventtide.kernel.StateVersion

/** The frames of one key in blocks of a block store; one block at a time is in memory.
  *
  * The name of a block is its first frame, which stays in the block while the block exists.
  * The closed and the pending frames of a key can therefore share a block store: no frame is both
  * closed and pending, and no block has both kinds.
  */
private[window] final class FrameBlockStore(buffers: Buffers, archive: BlockStore) {
  private val atHand = new FrameList
  private val leaving = new FrameList
  private var isChanged = false // `atHand` has changes that are not in the archive yet

  /** Moves positions `from` until `until` of `frames` into a new block; returns its name. */
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

  /** Merges `buffer` into a frame at or after the first of a block; returns the block's size. */
  def merge(block: Long, frame: Long, buffer: Int): Int = {
    load(block)
    atHand.merge(frame, buffer, buffers)
    isChanged = true
    atHand.size
  }

  /** Moves the frames of `atHand` from position `at` on into a new block; returns its name. */
  def split(at: Int): Long = {
    isChanged = true
    put(atHand, at, atHand.size)
  }

  /** The frames of a block, valid until the next call. */
  def open(block: Long): FrameList = {
    load(block)
    atHand
  }

  private def load(block: Long): Unit = if (atHand.isEmpty || atHand.first != block) {
    flush()
    atHand.release(buffers)
    val in = archive.read(block)
    FrameBlockStore.checkVersion(in)
    atHand.read(in, buffers)
  }

  /** Writes all pending changes to the archive. */
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

  /** Clears the frames in memory before another key is used. */
  def clear(): Unit = {
    atHand.clear()
    isChanged = false
  }
}

private object FrameBlockStore {
  private[window] val Version = 1

  private[window] def checkVersion(in: ByteSource): Unit =
    StateVersion.check(in.getByte(), "a block of frames", Version)
}

/** Copies blocks of frames; `buffers` reads and writes each buffer. */
final class FrameBlockCopy(buffers: Buffers) {
  private val frames = new FrameList

  def apply(in: ByteSource, out: ByteSink): Unit = {
    FrameBlockStore.checkVersion(in)
    frames.read(in, buffers)
    out.putByte(FrameBlockStore.Version)
    frames.write(out, buffers)
    frames.release(buffers)
  }
}
