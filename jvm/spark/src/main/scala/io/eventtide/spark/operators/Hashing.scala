package io.eventtide.spark.operators

/** How words are mixed for tables whose size is a power of two. */
private[operators] object Hashing {
  private val Odd = 0xd6e8feb86659fd93L

  /** Spreads what differs over the upper half. A product carries upwards only, so the upper half is folded
    * down first.
    */
  def mix(word: Long): Long = (word ^ (word >>> 32)) * Odd
}
