package io.eventtide.spark.query.run

import scala.collection.mutable

import io.eventtide.spark.spi.BatchEventTimeStats

/** The partitions of sources that had a backlog before a batch of real-time mode. A partition has
  * been read to its end once it has had no row for a second.
  */
private[run] final class SilentPartitions(inputs: QueryInputs) {
  import SilentPartitions._

  private val heardAt = mutable.HashMap.empty[(Int, String), Long]
  private var checkedAt = Long.MinValue

  /** Takes the rows that arrived at `now`. */
  def hear(now: Long, rows: Map[Int, BatchEventTimeStats]): Unit = {
    begin(now)
    if (heardAt.nonEmpty)
      for {
        (position, of) <- rows
        name <- of.substreams.keysIterator
        one = position -> name
        if heardAt.contains(one)
      } heardAt(one) = now
    if (now - checkedAt >= Interval) check(now)
  }

  /** Takes the time until `now`. */
  def advance(now: Long): Unit = {
    begin(now)
    check(now)
  }

  private def begin(now: Long): Unit = if (checkedAt == Long.MinValue) {
    checkedAt = now
    inputs.partitionsWithBacklog.foreach(heardAt(_) = now)
  }

  private def check(now: Long): Unit = {
    checkedAt = now
    val silent = heardAt.iterator.filter(_._2 <= now - Silence).map(_._1).toSeq
    if (silent.nonEmpty) {
      heardAt --= silent
      inputs.endBacklogs(now, silent)
    }
  }
}

private object SilentPartitions {
  private val Silence = 1000000L // microseconds
  private val Interval = Silence / 10
}
