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
    attempt(LateIndexReader.Attempts)(read(after, until))

  /** Which batch of those above `after`, up to and with `until`, is the last of so many. */
  def upTo(after: Long, until: Long, batches: Int): Long =
    attempt(LateIndexReader.Attempts)(find(after, until, batches))

  @scala.annotation.tailrec
  private def attempt[A](left: Int)(look: => Either[String, A]): A =
    orMissing(look) match {
      case Right(found) => found
      case Left(missing) if left == 1 => files.unreadable(missing, "it is missing")
      case Left(_) => attempt(left - 1)(look)
    }

  private def orMissing[A](look: => Either[String, A]): Either[String, A] =
    try look
    catch { case gone: FileNotFoundException => Left(gone.getMessage) }

  // Reads only the files that it takes: there may be many more.
  private def find(after: Long, until: Long, batches: Int): Either[String, Long] = {
    val found = wanted(after, until).iterator.flatMap(batchesOf)
    Right(
      found.filter(_ > after).takeWhile(_ <= until).take(batches).foldLeft(until)((_, id) => id)
    )
  }

  private def batchesOf(file: LateIndexFile): Seq[Long] =
    if (file.first == file.last) Seq(file.first) else files.entries(file).map(_.batchId)

  private def wanted(after: Long, until: Long): Vector[LateIndexFile] = {
    val (present, _) = LateIndexFile.sort(files.names)
    present.filter(file => file.last > after && file.first <= until)
  }

  private def read(after: Long, until: Long): Either[String, Seq[LateEntry]] = {
    val found = wanted(after, until).flatMap(files.entries)
    val entries = found.filter(entry => entry.batchId > after && entry.batchId <= until)
    val batches = entries.map(_.batchId).toSet
    val gap = entries.flatMap(_.after).find(before => before > after && !batches(before))
    gap.map(_.toString).toLeft(entries)
  }
}

private[late] object LateIndexReader {
  private val Attempts = 5
}
