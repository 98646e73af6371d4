package io.eventtide.spark.checkpoint

import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException

/** Streams over a checkpoint that was replaced by an earlier copy of itself. */
private[spark] object CheckpointSetBack {

  /** Fails if a stream has read a batch that the query has not committed: the batches between run
    * again, and the stream would skip what they write.
    *
    * @param read
    *   the last batch that the stream has read; -1 for none
    */
  def refuse(root: Path, read: Long, committed: Option[Long]): Unit =
    if (read > committed.getOrElse(-1L)) {
      throw EventtideException(
        "CHECKPOINT_SET_BACK",
        "root" -> root,
        "read" -> read,
        "committed" -> committed.fold("none")(_.toString)
      )
    }
}
