package io.eventtide.benchmarks

import java.nio.ByteBuffer

import io.eventtide.kernel.window._

/** Buffers of one long each, in slots of eight bytes that follow each other. */
final class LongBuffers extends Buffers {
  private var slots = ByteBuffer.allocate(1024)
  private var used = 0

  /** Forgets all buffers: the next key begins. */
  def reset(): Unit = used = 0

  def of(value: Long): Int = { val made = slot(); slots.putLong(made, value); made }
  def value(buffer: Int): Long = slots.getLong(buffer)

  def fresh(): Int = of(0)
  def copy(from: Int): Int = of(value(from))
  def merge(into: Int, from: Int): Unit = slots.putLong(into, value(into) + value(from)): Unit
  def deduct(into: Int, from: Int): Unit = slots.putLong(into, value(into) - value(from)): Unit

  /** A key's buffers are forgotten together. */
  def release(buffer: Int): Unit = ()

  def write(buffer: Int, out: ByteSink): Unit = {
    val at = out.reserve(8)
    System.arraycopy(slots.array, buffer, out.bytes, at, 8)
  }

  def read(in: ByteSource): Int = {
    val made = slot()
    System.arraycopy(in.bytes, in.skip(8), slots.array, made, 8)
    made
  }

  /** Where the next slot begins, which is also the buffer's number. */
  private def slot(): Int = {
    if (used + 8 > slots.capacity)
      slots = ByteBuffer.wrap(java.util.Arrays.copyOf(slots.array, used * 2))
    used += 8
    used - 8
  }
}
