package io.eventtide.spark.query.monitor

import scala.collection.mutable

import io.eventtide.spark.checkpoint.EndOfInput

/** One batch of a query, for charts. Times are in microseconds.
  *
  * @param atMicros
  *   its time; 0 for what was before the first batch of a run
  * @param leader
  *   the highest event time so far; None before the first row
  * @param onTime
  *   the rows that windows have accepted since the checkpoint began
  * @param late
  *   the late rows since then, by reason
  */
private[query] final case class BatchPoint(
    batchId: Long,
    atMicros: Long,
    watermark: Option[Long],
    leader: Option[Long],
    onTime: Long,
    late: Map[String, Long]
)

private[query] object BatchPoint {

  def of(report: WatermarkReport): BatchPoint = BatchPoint(
    report.batchId,
    report.clockMicros,
    report.emittedMicros.filterNot(micros => EndOfInput.isAtEnd(micros / 1000)), // of a drain
    report.inputs.flatMap(_.lines).flatMap(_.topMicros).maxOption,
    report.counts.onTime,
    report.counts.late
  )
}

/** The last batches of a run, the oldest first. Other threads read it. */
private[query] final class BatchTrail {
  private val kept = mutable.Queue.empty[BatchPoint]

  def points: Seq[BatchPoint] = synchronized(kept.toSeq)

  def last: Option[BatchPoint] = synchronized(kept.lastOption)

  def add(point: BatchPoint): Unit = synchronized {
    if (kept.size == BatchTrail.Most) kept.dequeue(): Unit
    kept.enqueue(point): Unit
  }
}

private object BatchTrail {
  private val Most = 500
}
