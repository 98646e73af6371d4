package io.eventtide.engines

/** How many results there are for each end of windows, the checksum of their contents, and when the
  * first came.
  *
  *   - '''Guarantee:''' counts and checksums are right in any order; `eventSecondsPerSecond` takes
  *     it that each sink gets its windows in the order of their ends.
  *   - '''Units:''' ends are milliseconds, whole seconds after [[Workload.Start]].
  *   - '''Edges:''' jitter puts the first ends before the start.
  */
final class Answers(spec: Spec) {
  private val before = (Workload.Lag / 1000).toInt
  private val results = new Array[Long](before + spec.seconds + spec.size + 1)
  private val checksums = new Array[Long](results.length)
  private val reached =
    new Array[Long](results.length) // System.nanoTime of this end or a later one
  private var next = 0 // the first end that is not reached

  def add(end: Long, key: Int, count: Long, total: Double, most: Double): Unit = {
    val slot = ((end - Workload.Start) / 1000).toInt + before
    if (slot >= next) reach(slot)
    results(slot) += 1
    checksums(slot) += Workload.checksum(end, key, count, total, most)
  }

  private def reach(slot: Int): Unit = {
    java.util.Arrays.fill(reached, next, slot + 1, System.nanoTime)
    next = slot + 1
  }

  /** Takes in the answers of another sink. */
  def merge(other: Answers): Unit = results.indices.foreach { slot =>
    results(slot) += other.results(slot)
    checksums(slot) += other.checksums(slot)
    reached(slot) = Math.max(reached(slot), other.reached(slot))
  }

  /** For each end that has results: its second after the start, how many, and their checksum. */
  def byEnd: Seq[(Int, Long, Long)] =
    results.indices.filter(results(_) > 0).map(s => (s - before, results(s), checksums(s)))

  /** How fast event time went by for the sinks while windows were full and events still came. */
  def eventSecondsPerSecond: Double = {
    val ends = byEnd.map(_._1).filter(end => end >= spec.full && end <= spec.seconds - before)
    require(ends.size > 1, s"${spec.events} events are too few: windows are not full for long")
    val nanos = reached(ends.last + before) - reached(ends.head + before)
    (ends.last - ends.head) * 1e9 / nanos.toDouble
  }
}
