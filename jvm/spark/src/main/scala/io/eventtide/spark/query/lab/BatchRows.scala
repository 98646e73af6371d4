package io.eventtide.spark.query.lab

import scala.collection.mutable

import io.eventtide.kernel.watermark.EventTimeStats
import io.eventtide.spark.spi.BatchEventTimeStats

/** The rows of a frame in one batch.
  *
  * @param newKeys
  *   the number of keys that the frame has for the first time
  * @param lowest
  *   the lowest event time
  */
private[lab] final case class ReplayedFrame(frame: Long, rows: Long, newKeys: Long, lowest: Long)

/** The rows of one batch: by frame for the windows, by substream for the policies. */
private[lab] final case class BatchRows(frames: Seq[ReplayedFrame], stats: BatchEventTimeStats)

private[lab] object BatchRows {

  def of(groups: Seq[RowGroup]): BatchRows = {
    val substreams = mutable.HashMap.empty[String, EventTimeStats]
    groups.filter(_.rows > 0).foreach { group =>
      val stats = substreams.getOrElseUpdate(group.substream, new EventTimeStats)
      stats.add(group.lowest, group.highest, group.rows)
    }
    val frames = groups.groupBy(_.frame).map { case (frame, of) =>
      ReplayedFrame(frame, of.map(_.rows).sum, of.map(_.newKeys).sum, of.map(_.lowest).min)
    }
    BatchRows(frames.toSeq, BatchEventTimeStats(substreams, badTime = 0, future = 0))
  }
}

/** The rows of a batch that have the same substream and frame. One without rows has new keys of a frame.
  */
private[lab] final case class RowGroup(
    batch: Long,
    frame: Long,
    substream: String,
    rows: Long,
    lowest: Long,
    highest: Long,
    newKeys: Long
)
