package io.eventtide.spark.late

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.query.CheckpointFiles

/** What the index of a late log says, also while its query writes it. */
private[spark] final class LateIndexReader(root: Path, conf: Configuration) {
  private val files = new LateIndexFiles(root, conf)
  private val commits = new CheckpointFiles(new Path(root, "commits"), conf)

  /** The last batch that Spark has committed; it purges the older ones. */
  def lastCommitted: Option[Long] = commits.lastBatch

  /** The last committed batch that has late rows. */
  def lastLate: Option[Long] = {
    val committed = lastCommitted // asked for first: what it names is in the index by then
    committed.flatMap { until =>
      val (present, _) = LateIndexFile.sort(files.names)
      present.map(_.last).filter(_ <= until).lastOption
    }
  }

  /** The entries of the batches above `after`, up to and with `until`, which have to be committed.
    *
    * A file may be folded between the moment at which it is listed and that at which it is read: then
    * the fold is there, and is found by looking again.
    */
  def entries(after: Long, until: Long): Seq[LateEntry] =
    attempt(after, until, LateIndexReader.Attempts)

  @scala.annotation.tailrec
  private def attempt(after: Long, until: Long, left: Int): Seq[LateEntry] =
    read(after, until) match {
      case Right(entries) => entries
      case Left(missing) if left == 1 => files.unreadable(missing, "it is missing")
      case Left(_) => attempt(after, until, left - 1)
    }

  private def read(after: Long, until: Long): Either[String, Seq[LateEntry]] = {
    val (present, _) = LateIndexFile.sort(files.names)
    val wanted = present.filter(file => file.last > after && file.first <= until)
    try {
      val found = wanted.flatMap(files.entries)
      val entries = found.filter(entry => entry.batchId > after && entry.batchId <= until)
      val batches = entries.map(_.batchId).toSet
      val gap = entries.flatMap(_.after).find(before => before > after && !batches(before))
      gap.map(_.toString).toLeft(entries)
    } catch { case gone: FileNotFoundException => Left(gone.getMessage) }
  }
}

private[late] object LateIndexReader {
  private val Attempts = 5
}
