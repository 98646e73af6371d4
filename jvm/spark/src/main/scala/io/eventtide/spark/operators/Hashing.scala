package io.eventtide.spark.operators

/** Mixes words for hash tables whose size is a power of two. */
private[operators] object Hashing {
  private val Odd = 0xd6e8feb86659fd93L

  /** Spreads the differing bits over the upper half. The upper half is folded down first, because a
    * product carries upwards only.
    */
  def mix(word: Long): Long = (word ^ (word >>> 32)) * Odd
}
