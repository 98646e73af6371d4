package io.eventtide.spark.latelog

import java.io.FileNotFoundException

import scala.util.{Failure, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{CheckpointFiles, CheckpointLinks, CheckpointPath}

/** A late file that does not count, and its length in bytes. */
final case class LateOrphan(path: Path, bytes: Long)

/** Late files that no index names or will name: files of failed or superseded attempts, and files
  * that a compaction has replaced.
  */
final class LateOrphans(checkpoint: Path, conf: Configuration) {
  private val root = CheckpointPath.root(checkpoint, conf)
  private val index = new LateIndexReader(root, conf)
  private lazy val folders = new LateFolders(root, conf)

  /** Finds the orphans of committed batches. Files of a batch that may still be running are not
    * orphans yet.
    *
    * A file that the index does not name is an orphan only if the index is complete. Otherwise this
    * fails with an error that names the missing part.
    */
  def find(): Seq[LateOrphan] = {
    if (new CheckpointFiles(new Path(root, "offsets"), conf).names.isEmpty) {
      throw EventtideException("CHECKPOINT_EMPTY", "root" -> root)
    }
    index.lastCommitted.fold(Seq.empty[LateOrphan])(find(_, LateOrphans.Attempts))
  }

  // A retention may have forgotten batches since their entries were read, and deleted their files.
  @scala.annotation.tailrec
  private def find(until: Long, left: Int): Seq[LateOrphan] = {
    val forgotten = index.forgotten
    Try(findOrphans(until)) match {
      case Failure(_) if left > 1 && index.forgotten != forgotten => find(until, left - 1)
      case answer => answer.get
    }
  }

  private def findOrphans(until: Long): Seq[LateOrphan] = {
    index.refuseUnbalanced()
    val compacted = index.compacted
    val there = folders.paths.flatMap(filesIn).filter(isOver(until, compacted))
    val entries = index.entries(-1, until)
    folders.refuseDamaged(entries)
    val named = entries.flatMap(_.windows).flatMap(_.files).map(_.name).toSet
    there.filterNot(orphan => named(orphan.path.getName))
  }

  /** Deletes the orphans and returns them.
    *
    * @param confirmed
    *   the folders outside the checkpoint that the user has confirmed; for other folders only the
    *   checkpoint records that they belong to the query
    */
  def clean(confirmed: Seq[String]): Seq[LateOrphan] = {
    CheckpointLinks.refuse(root, conf)
    folders.refuseUnconfirmed(confirmed)
    val orphans = find()
    orphans.foreach { case LateOrphan(path, _) => path.getFileSystem(conf).delete(path, false) }
    orphans
  }

  private def filesIn(folder: Path): Seq[LateOrphan] =
    try {
      val found = folder.getFileSystem(conf).listStatus(folder).toSeq
      found.map(status => LateOrphan(status.getPath, status.getLen))
    } catch { case _: FileNotFoundException => Nil } // no row was late yet

  // A running compaction may be about to name its files.
  private def isOver(committed: Long, compacted: Long)(file: LateOrphan): Boolean = {
    val name = file.path.getName
    val until = if (LateFileInfo.isCompacted(name)) compacted else committed
    LateFileInfo.batches(name).exists(_.last <= until)
  }
}

private[spark] object LateOrphans {
  private val Attempts = 5
}
