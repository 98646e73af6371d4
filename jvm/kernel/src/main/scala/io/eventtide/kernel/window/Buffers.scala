package io.eventtide.kernel.window

/** The aggregation buffers of one key at a time, by number.
  *
  * The engine says which buffers are merged and when; what is in them is the caller's. A number is
  * good until it is released, or the caller turns to the next key.
  *
  *   - '''Guarantee expected:''' `merge` is associative, and commutes as far as the caller needs it to;
  *     `deduct` undoes `merge` exactly.
  */
trait Buffers {

  /** A new buffer with nothing in it. */
  def fresh(): Int

  /** A new buffer with what is in `from`. */
  def copy(from: Int): Int

  /** Adds what is in `from`, which stays as it is, to `into`. */
  def merge(into: Int, from: Int): Unit

  /** Takes what is in `from` out of `into` again; asked only of those that can. */
  def deduct(into: Int, from: Int): Unit

  /** Nobody asks for this buffer again: its number and its memory may be another's. */
  def release(buffer: Int): Unit

  def write(buffer: Int, out: ByteSink): Unit

  /** A buffer with what `write` wrote. */
  def read(in: ByteSource): Int
}
