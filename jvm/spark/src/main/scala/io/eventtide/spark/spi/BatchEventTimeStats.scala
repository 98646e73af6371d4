package io.eventtide.spark.spi

import scala.collection
import scala.collection.mutable

import io.eventtide.kernel.disorder.BatchDisorder
import io.eventtide.kernel.watermark.EventTimeStats

/** The event time statistics of all rows that one input of a query read in one batch.
  *
  * @param disorder
  *   the rows by their disorder, and those below the watermark; None if they are not counted
  */
private[spark] final case class BatchEventTimeStats(
    substreams: collection.Map[String, EventTimeStats],
    badTime: Long,
    future: Long,
    disorder: Option[BatchDisorder] = None
) {

  /** A copy without the late rows before `lowest`, which do not delay the watermark. */
  def onTimeFrom(lowest: Long): BatchEventTimeStats =
    copy(substreams = substreams.map { case (name, rows) => name -> rows.from(lowest) })

  def isEmpty: Boolean = substreams.isEmpty
  def refused: Long = badTime + future
  def max: Long = substreams.valuesIterator.map(_.max).max
  def min: Long = substreams.valuesIterator.map(_.min).min
}

private[spark] object BatchEventTimeStats {

  val Empty: BatchEventTimeStats = BatchEventTimeStats(Map.empty, 0, 0)

  def of(reports: Seq[PartitionEventTimeStats], countsDisorder: Boolean): BatchEventTimeStats = {
    val merged = mutable.HashMap.empty[String, EventTimeStats]
    reports.foreach(_.foreach { (name, rows) =>
      // A task adds the only substream of its source even if its partition is empty.
      if (rows.count > 0) merged.getOrElseUpdate(name, new EventTimeStats).merge(rows)
    })
    BatchEventTimeStats(
      merged,
      reports.map(_.badTime).sum,
      reports.map(_.future).sum,
      Option.when(countsDisorder)(disorderOf(reports, merged.valuesIterator.map(_.count).sum))
    )
  }

  private def disorderOf(reports: Seq[PartitionEventTimeStats], rows: Long): BatchDisorder =
    BatchDisorder.of(reports.map(_.disorder), rows, reports.map(_.late).sum)
}
