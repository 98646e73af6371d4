package io.eventtide.spark.latelog

import java.io.FileNotFoundException

import scala.util.{Failure, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.checkpoint.CheckpointFiles
import io.eventtide.spark.spi.LateTotals

/** Reads the index of a late log. Works while the query is writing. */
private[spark] final class LateIndexReader(root: Path, conf: Configuration) {
  private val files = new LateIndexFiles(root, conf)
  private val commits = new CheckpointFiles(new Path(root, "commits"), conf)

  /** The last batch that Spark has committed. Spark purges older commits. */
  def lastCommitted: Option[Long] = commits.lastBatch

  /** The last batch that has an entry, committed or not. */
  def last: Option[Long] = files.present.map(_.last).maxOption

  /** The totals after a committed batch. */
  def totals(until: Long): LateTotals = attempt(LateIndexReader.Attempts) {
    val newest = wanted(-1, until).reverseIterator.flatMap { file =>
      lines(file, -1, until).lastOption.map(files.entry(file, _).totals)
    }
    Right(newest.nextOption().getOrElse(LateTotals.None))
  }

  /** The last batch that a compaction has written or a retention has forgotten; -1 if there is
    * none.
    */
  def compacted: Long = lastOf(file => file.isCompacted || file.isForgotten)

  /** The last batch that a retention has forgotten; -1 if there is none. */
  def forgotten: Long = lastOf(_.isForgotten)

  private def lastOf(which: LateIndexFile => Boolean): Long =
    files.present.filter(which).map(_.last).maxOption.getOrElse(-1L)

  /** The last committed batch that has late rows. */
  def lastLate: Option[Long] = {
    val committed = lastCommitted // read first: the index then has every batch up to it
    committed.flatMap(until => files.present.map(_.last).filter(_ <= until).lastOption)
  }

  /** Fails if the totals of the index and of the ledger differ after the last committed batch. */
  def refuseUnbalanced(): Unit = refuseUnbalanced(LateIndexReader.Attempts)

  // The query may have continued meanwhile, and purged the ledger's entry of that batch.
  @scala.annotation.tailrec
  private def refuseUnbalanced(left: Int): Unit = {
    val committed = lastCommitted
    Try(committed.foreach(LateBalance.check(root, _, conf))) match {
      case Failure(_) if left > 1 && lastCommitted != committed => refuseUnbalanced(left - 1)
      case answer => answer.get
    }
  }

  /** The entries of the batches above `after`, up to and including `until`. These must be
    * committed.
    *
    * A file may be folded between listing and reading it. The fold exists by then, and a retry
    * finds it.
    */
  def entries(
      after: Long,
      until: Long,
      selection: LateSelection = LateSelection.All
  ): Seq[LateIndexEntry] = attempt(LateIndexReader.Attempts)(read(after, until, selection))

  /** The readable entries; missing or damaged entries are skipped. */
  def readable(after: Long, until: Long, selection: LateSelection): Seq[LateIndexEntry] =
    Try(entries(after, until, selection)).getOrElse {
      for {
        file <- wanted(after, until)
        line <- Try(lines(file, after, until)).getOrElse(Nil)
        if selection.takes(line.batchId)
        entry <- Try(files.entry(file, line)).toOption
      } yield entry
    }

  /** The batch with which the first `batches` batches above `after` end, at most `until`. Returns
    * `until` if no batch is found.
    */
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

  // Reads only the needed files: there may be many more.
  private def find(after: Long, until: Long, batches: Int): Either[String, Long] = {
    val found = wanted(after, until).iterator.flatMap(batchesOf)
    Right(
      found.filter(_ > after).takeWhile(_ <= until).take(batches).foldLeft(until)((_, id) => id)
    )
  }

  private def batchesOf(file: LateIndexFile): Seq[Long] =
    if (file.first == file.last) Seq(file.first)
    else files.heads(file).map(_.batchId).filter(file.has)

  private def wanted(after: Long, until: Long): Vector[LateIndexFile] =
    files.present.filter(file => file.last > after && file.first <= until)

  private def read(
      after: Long,
      until: Long,
      selection: LateSelection
  ): Either[String, Seq[LateIndexEntry]] = {
    val found = wanted(after, until).flatMap(file => lines(file, after, until).map(file -> _))
    gap(after, found.map(_._2)).toLeft {
      found.collect {
        case (file, line) if selection.takes(line.batchId) => files.entry(file, line)
      }
    }
  }

  private def lines(file: LateIndexFile, after: Long, until: Long): Seq[LateLine] =
    files.heads(file).filter { line =>
      line.batchId > after && line.batchId <= until && file.has(line.batchId)
    }

  private def gap(after: Long, lines: Seq[LateLine]): Option[String] = {
    val batches = lines.map(_.batchId).toSet
    lines.flatMap(_.after).find(before => before > after && !batches(before)).map(_.toString)
  }
}

private[spark] object LateIndexReader {
  private val Attempts = 5
}
