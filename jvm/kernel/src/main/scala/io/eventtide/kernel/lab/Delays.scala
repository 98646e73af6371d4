package io.eventtide.kernel.lab

import java.util.{TreeMap => JTreeMap}

/** Counts delays, exactly.
  *
  *   - '''Units:''' any; a delay may be negative.
  *   - '''Edges:''' it has an entry for each different delay. Windows end at frames and batches end at
  *     intervals, so that these are few.
  *   - '''Restart:''' none; a replay is not continued.
  */
final class Delays {
  private val counts = new JTreeMap[Long, Long]
  private var total = 0L

  /** The number of delays. */
  def count: Long = total

  def add(delay: Long): Unit = {
    counts.merge(delay, 1L, (one, more) => one + more)
    total += 1
  }

  /** The lowest delay that at least a share of the delays do not exceed; None without delays. */
  def quantile(share: Double): Option[Long] = {
    val rank = math.max(1L, math.ceil(share * total).toLong)
    val entries = counts.entrySet.iterator
    var passed = 0L
    var found = Option.empty[Long]
    while (found.isEmpty && entries.hasNext) {
      val entry = entries.next()
      passed += entry.getValue
      if (passed >= rank) found = Some(entry.getKey)
    }
    found
  }
}
