package io.eventtide.peers

/** How many results there are for each end of windows, and the checksum of their contents.
  *
  *   - '''Units:''' ends are milliseconds, whole seconds after [[Workload.Start]].
  *   - '''Edges:''' jitter puts the first ends before the start.
  */
final class Answers(spec: Spec) {
  private val before = (Workload.Lag / 1000).toInt
  private val results = new Array[Long](before + spec.seconds + spec.size + 1)
  private val checksums = new Array[Long](results.length)

  def add(end: Long, key: Int, count: Long, total: Double, most: Double): Unit = {
    val slot = ((end - Workload.Start) / 1000).toInt + before
    results(slot) += 1
    checksums(slot) += Workload.checksum(end, key, count, total, most)
  }

  def merge(other: Answers): Unit = results.indices.foreach { slot =>
    results(slot) += other.results(slot)
    checksums(slot) += other.checksums(slot)
  }

  /** For each end that has results: its second after the start, how many, and their checksum. */
  def byEnd: Seq[(Int, Long, Long)] =
    results.indices.filter(results(_) > 0).map(s => (s - before, results(s), checksums(s)))
}
