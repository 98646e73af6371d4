package io.eventtide.kernel.time

/** Arithmetic on times that stops at the ends of the 64-bit range instead of wrapping around.
  *
  *   - '''Guarantee:''' monotone in both arguments; exact wherever the true result fits.
  *   - '''Units:''' any, the same on both sides.
  *   - '''Edges:''' a result above the range is `Long.MaxValue`, one below it `Long.MinValue`.
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
