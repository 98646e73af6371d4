package io.eventtide.spark.latelog

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import io.eventtide.kernel.time.Clamped

/** Forgets late rows that are older than a query keeps them, a few with each of its batches.
  *
  *   - '''Guarantee:''' whole batches go, the oldest first, when their own time is longer ago than
  *     that and every reader that the checkpoint knows has passed them. The index says so first, in
  *     a file that holds what they had in number, so that the books balance at any time; the late
  *     files go with the next batch.
  *   - '''Work:''' a batch looks at one file of the index, and ten late files go, or those of one batch.
  *   - '''Units:''' microseconds, by the times of the batches.
  *   - '''Edges:''' it begins when the oldest is a sixteenth too old, and goes on until none is. What
  *     a compaction has put together goes together. Where the index is not whole, nothing goes.
  *   - '''Restart:''' files that a run has not come to delete count for nothing, and go with
  *     `clean_late`.
  *
  * @param files
  *   the folder of each window whose rows this run logs
  */
private[latelog] final class LateRetention(
    root: Path,
    conf: Configuration,
    keepMicros: Long,
    waitsForHandler: Boolean,
    folders: Map[Int, Path]
) extends Logging {
  private val files = new LateIndexFiles(root, conf)
  private val readers = new LateReaders(root, conf)
  private var oldest = Option.empty[(LateIndexFile, Seq[LateIndexEntry])] // a file that was read
  private var oldestAt = Option.empty[Long] // the time of the first batch that is kept, if known
  private var isAtWork = false
  private var gone = Seq.empty[Path]
  private var isBroken = false

  /** Does what is due at a batch's time.
    *
    * @param below
    *   the first batch that Spark may run again
    * @return
    *   what the index has in place of batches that it has forgotten, if it has forgotten some
    */
  def step(nowMicros: Long, below: Long): Option[LateIndexEntry] = {
    gone.foreach(path => Try(path.getFileSystem(conf).delete(path, false)))
    gone = Nil
    if (isBroken || oldestAt.exists(!isOverdue(_, nowMicros))) None
    else
      try forget(nowMicros, below)
      catch { case NonFatal(failure) => break(failure.getMessage) }
  }

  private def forget(now: Long, below: Long): Option[LateIndexEntry] = {
    val (present, _) = LateIndexFile.sort(files.names)
    val (forgotten, kept) = present.partition(_.isForgotten)
    val before = forgotten.headOption.flatMap(files.entries(_).lastOption)
    kept.headOption.filter(_.first < below).flatMap { file =>
      val entries = entriesOf(file)
      oldestAt = entries.headOption.map(_.atMicros)
      isAtWork = oldestAt.exists(isOverdue(_, now))
      if (isAtWork) forget(before, file, taken(file, entries, now, below)) else None
    }
  }

  private def isOverdue(atMicros: Long, now: Long): Boolean = {
    val length = Clamped.add(keepMicros, if (isAtWork) 0 else keepMicros / LateRetention.Steps)
    atMicros < Clamped.subtract(now, length)
  }

  private def entriesOf(file: LateIndexFile): Seq[LateIndexEntry] = {
    val known = oldest.filter(_._1.name == file.name).map(_._2)
    val entries = known.getOrElse(files.entries(file)).dropWhile(_.batchId < file.first)
    oldest = Some(file -> entries)
    entries
  }

  private def taken(
      file: LateIndexFile,
      entries: Seq[LateIndexEntry],
      now: Long,
      below: Long
  ): Seq[LateIndexEntry] = {
    val known = readers.all
    val read =
      if (known.isEmpty && waitsForHandler) -1L
      else known.map(_.batchId).minOption.getOrElse(Long.MaxValue)
    val old = entries.takeWhile { entry =>
      entry.batchId < below && entry.batchId <= read &&
      entry.atMicros < Clamped.subtract(now, keepMicros)
    }
    if (file.isCompacted) { if (old.length == entries.length) old else Nil }
    else {
      val sizes = old.scanLeft(0)(_ + _.windows.map(_.files.length).sum).drop(1)
      old.take(math.max(1, sizes.count(_ <= LateRetention.Most)))
    }
  }

  private def forget(
      before: Option[LateIndexEntry],
      file: LateIndexFile,
      taken: Seq[LateIndexEntry]
  ): Option[LateIndexEntry] = {
    val isWhole = taken.zip(before +: taken.map(Option(_))).forall { case (entry, previous) =>
      entry.after == previous.map(_.batchId) &&
      entry.total == LateIndexEntry.sum(previous.map(_.total).toSeq :+ entry.rows)
    }
    if (taken.isEmpty) None
    else if (!isWhole) break(s"the entries of ${file.name} do not follow on each other")
    else {
      val entry = LateIndexEntry.together(before.toSeq ++ taken)
      files.write(LateIndexFile.forgotten(entry.batchId), Seq(entry.json))
      gone = pathsOf(taken)
      Some(entry)
    }
  }

  private def pathsOf(entries: Seq[LateIndexEntry]): Seq[Path] =
    for {
      (window, folder) <- folders.toSeq
      name <- entries.flatMap(_.filesOf(window)).map(_.name).distinct
    } yield new Path(folder, name)

  private def break(reason: String): Option[LateIndexEntry] = {
    isBroken = true
    logWarning(
      s"Late rows that are too old are not removed until the query is started again: $reason"
    )
    None
  }
}

private object LateRetention {

  /** A part of the time that rows are kept for, by which they are kept longer before some go. */
  private val Steps = 16

  /** So many files a batch, unless one batch of them has more. */
  private val Most = 10
}
