package io.eventtide.spark.query

import scala.collection
import scala.collection.mutable

import io.eventtide.kernel.watermark.TimeExtremes
import io.eventtide.spark.exec.PartitionRows

/** All that one input of a query read in one batch. */
private[query] final case class BatchRows(
    substreams: collection.Map[String, TimeExtremes],
    badTime: Long,
    future: Long
) {

  /** The same, where rows before `lowest` were late: they hold no watermark back. */
  def onTimeFrom(lowest: Long): BatchRows =
    copy(substreams = substreams.map { case (name, rows) => name -> rows.from(lowest) })

  def isEmpty: Boolean = substreams.isEmpty
  def refused: Long = badTime + future
  def count: Long = substreams.valuesIterator.map(_.count).sum
  def max: Long = substreams.valuesIterator.map(_.max).max
  def min: Long = substreams.valuesIterator.map(_.min).min
}

private[query] object BatchRows {

  val Empty: BatchRows = BatchRows(Map.empty, 0, 0)

  def of(reports: Seq[PartitionRows]): BatchRows = {
    val merged = mutable.HashMap.empty[String, TimeExtremes]
    reports.foreach(_.foreach { (name, rows) =>
      // A partition that was empty has begun the one substream of its source without a row.
      if (rows.count > 0) merged.getOrElseUpdate(name, new TimeExtremes).merge(rows)
    })
    BatchRows(merged, reports.map(_.badTime).sum, reports.map(_.future).sum)
  }
}
