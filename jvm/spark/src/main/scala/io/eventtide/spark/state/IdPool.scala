package io.eventtide.spark.state

/** Allocates numbers from 0 up and reuses released numbers; numbers stay below the peak in use. */
private[state] final class IdPool {
  private var free = new Array[Int](16)
  private var freeCount = 0
  private var used = 0

  /** Releases all numbers. */
  def reset(): Unit = {
    freeCount = 0
    used = 0
  }

  def take(): Int =
    if (freeCount > 0) {
      freeCount -= 1
      free(freeCount)
    } else {
      used += 1
      used - 1
    }

  def release(number: Int): Unit = {
    if (freeCount == free.length) free = java.util.Arrays.copyOf(free, freeCount * 2)
    free(freeCount) = number
    freeCount += 1
  }
}
