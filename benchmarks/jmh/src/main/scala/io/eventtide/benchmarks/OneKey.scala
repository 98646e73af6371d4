package io.eventtide.benchmarks

import scala.collection.mutable

import io.eventtide.kernel.window._

/** A key whose window counts rows, one in each frame; its state is bytes between two results. */
trait OneKey {

  /** Brings the next frame's row, and answers what the window that ends with it has. */
  def result(): Long
}

/** The kernel's state, its blocks in memory. */
final class RingKey(frames: Int, deducts: Boolean, blockSize: Int) extends OneKey {
  private val buffers = new LongBuffers
  private val state =
    FrameWindowState(
      Sliding(frames),
      buffers,
      FrameCombining(deducts),
      new BlocksInMemory,
      blockSize
    )
  private val in = new ByteSource
  private val out = new ByteSink
  private var frame = 0L
  state.begin(0)
  private var record = written()

  def result(): Long = {
    buffers.reset()
    in.reset(record, 0)
    state.read(in)
    state.add(frame, buffers.of(1)): Unit
    frame += 1
    var total = 0L
    while (state.next(frame)) total = buffers.value(state.result)
    record = written()
    total
  }

  private def written(): Array[Byte] = {
    out.reset(0)
    state.write(out)
    java.util.Arrays.copyOf(out.bytes, out.position)
  }
}

/** All frames in one record with their numbers, merged anew for each result. */
final class RecomputedKey(frames: Int) extends OneKey {
  private val buffers = new LongBuffers
  private val in = new ByteSource
  private val out = new ByteSink
  private var count = 0
  private var frame = 0L
  private var record = Array.emptyByteArray

  def result(): Long = {
    buffers.reset()
    in.reset(record, 0)
    out.reset(0)
    val total = buffers.fresh()
    var kept = 0
    var i = 0
    while (i < count) {
      kept += keep(total, in.getNumber(), buffers.read(in))
      i += 1
    }
    count = kept + keep(total, frame, buffers.of(1))
    frame += 1
    record = java.util.Arrays.copyOf(out.bytes, out.position)
    buffers.value(total)
  }

  /** Takes a frame that is still in the window; answers how many that is. */
  private def keep(total: Int, at: Long, buffer: Int): Int =
    if (at <= frame - frames) 0
    else {
      buffers.merge(total, buffer)
      out.putNumber(at)
      buffers.write(buffer, out)
      1
    }
}

final class BlocksInMemory extends BlockStore {
  private val blocks = mutable.LongMap.empty[Array[Byte]]
  private val out = new ByteSink
  private val in = new ByteSource

  def write(block: Long, content: ByteSink): Unit =
    blocks(block) = java.util.Arrays.copyOf(content.bytes, content.position)

  def read(block: Long): ByteSource = { in.reset(blocks(block), 0); in }
  def remove(block: Long): Unit = blocks -= block
  def sink(): ByteSink = { out.reset(0); out }
}
