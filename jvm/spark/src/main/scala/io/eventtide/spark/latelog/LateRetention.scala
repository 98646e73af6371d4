package io.eventtide.spark.latelog

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import io.eventtide.kernel.time.Clamped

/** Removes late rows that are older than the query's retention, a few with each batch.
  *
  *   - '''Guarantee:''' whole batches are forgotten, the oldest first. The batch's timestamp must
  *     be older than the retention, and every recorded reader must have read the batch. The index
  *     is updated first, with a file that keeps the row counts, so that ledger and index always
  *     balance. The late files are deleted with the next batch.
  *   - '''Work:''' a batch reads one file of the index. It deletes at most ten late files, or the
  *     files of one batch.
  *   - '''Units:''' microseconds, by the timestamps of the batches.
  *   - '''Edges:''' it starts when the oldest batch exceeds the retention by one sixteenth of it,
  *     and continues until no batch exceeds it. Batches of one compacted file are forgotten
  *     together. If the index is incomplete, nothing is forgotten.
  *   - '''Restart:''' files that a run has not deleted yet do not count. `clean_late` deletes them.
  *
  * @param folders
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
  private var oldest = Option.empty[(LateIndexFile, Seq[LateIndexEntry])] // the file read last
  private var oldestAt = Option.empty[Long] // of the oldest retained batch, if known
  private var isAtWork = false
  private var gone = Seq.empty[Path]
  private var isBroken = false

  /** Runs the retention for one batch.
    *
    * @param below
    *   the first batch that Spark may replay
    * @return
    *   the index entry that replaces the forgotten batches; None if none were forgotten
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
    val (forgotten, kept) = files.present.partition(_.isForgotten)
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
    else if (!isWhole) break(s"the entries of ${file.name} are not consecutive")
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
      s"Late rows older than late_retention are not removed until the query restarts: $reason"
    )
    None
  }
}

private object LateRetention {

  /** The fraction of the retention, 1/16, by which rows may exceed it before the removal starts. */
  private val Steps = 16

  /** The maximum number of files per batch, unless one forgotten batch has more. */
  private val Most = 10
}
