package io.eventtide.kernel.window

/** The aggregation buffers of the current key, identified by number.
  *
  * The engine decides which buffers are merged and when; the caller defines their content. A number
  * is valid until it is released, or until the caller moves to the next key.
  *
  *   - '''Guarantee expected:''' `merge` is associative, and commutative where the caller requires
  *     it; `deduct` reverses `merge` exactly.
  */
trait Buffers {

  /** A new empty buffer. */
  def fresh(): Int

  /** A new buffer with the content of `from`. */
  def copy(from: Int): Int

  /** Merges `from` into `into`; `from` does not change. */
  def merge(into: Int, from: Int): Unit

  /** Deducts `from` from `into`; called only if the aggregation supports it. */
  def deduct(into: Int, from: Int): Unit

  /** Releases a buffer; its number and its memory may be reused. */
  def release(buffer: Int): Unit

  def write(buffer: Int, out: ByteSink): Unit

  /** A new buffer with the content that `write` wrote. */
  def read(in: ByteSource): Int
}
