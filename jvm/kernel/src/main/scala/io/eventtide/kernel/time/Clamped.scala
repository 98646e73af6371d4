package io.eventtide.kernel.time

/** Arithmetic on times that clamps at the ends of the 64-bit range instead of overflowing.
  *
  *   - '''Guarantee:''' monotonic in both arguments; exact where the true result fits.
  *   - '''Units:''' any, the same for both arguments.
  *   - '''Edges:''' a result above the range is `Long.MaxValue`, a result below it is
  *     `Long.MinValue`.
  *   - '''Source:''' Jet's `Util.addClamped` and `subtractClamped`.
  */
object Clamped {
  def add(a: Long, b: Long): Long = {
    val sum = a + b
    if (((a ^ sum) & (b ^ sum)) < 0) endOf(a) else sum
  }

  def subtract(a: Long, b: Long): Long = {
    val difference = a - b
    if (((a ^ b) & (a ^ difference)) < 0) endOf(a) else difference
  }

  /** `a` times `b`, where `b` is above zero. */
  def multiply(a: Long, b: Long): Long = {
    val low = a * b
    if (Math.multiplyHigh(a, b) == (low >> 63)) low else endOf(a)
  }

  private def endOf(sign: Long): Long = if (sign < 0) Long.MinValue else Long.MaxValue
}
