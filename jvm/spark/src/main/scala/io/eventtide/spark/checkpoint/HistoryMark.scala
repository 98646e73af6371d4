package io.eventtide.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** The mark of a checkpoint whose first batches read a history: `<checkpoint>/eventtide/history`.
  *
  * The offsets of its first batches are read only with this mark: other queries, too, may have
  * batches in which a source has no offset.
  */
private[spark] final class HistoryMark(root: Path, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "eventtide"), conf)
  private val offsets = new OffsetFiles(root, conf)

  def exists: Boolean = files.exists(HistoryMark.Name)

  /** Marks a checkpoint without batches, or removes the mark of a run that has begun no batch. */
  def begin(backfills: Boolean): Unit =
    if (backfills) files.create(HistoryMark.Name)(_.write("v1\n".getBytes(UTF_8))): Unit
    else if (exists) files.delete(HistoryMark.Name)

  /** Whether the stream of a marked checkpoint would continue from an offset of the history. */
  def isInHistory(lastBegun: Long): Boolean = {
    val last = Seq(lastBegun, lastBegun - 1).filter(_ >= 0).flatMap(offsets.firstOffset)
    last.contains(HistoryMark.RowsOffset)
  }

  /** Whether a batch of the stream of a marked checkpoint has begun. */
  def isInStream(lastBegun: Long): Boolean =
    offsets
      .firstOffset(lastBegun)
      .exists(of => of != HistoryMark.RowsOffset && of != OffsetFiles.NoOffset)
}

private[spark] object HistoryMark {
  private val Name = "history"

  /** The offset of the rows of a history. */
  val RowsOffset = """{"history":"rows"}"""
}
