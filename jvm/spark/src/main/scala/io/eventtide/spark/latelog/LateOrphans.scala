package io.eventtide.spark.latelog

import java.io.FileNotFoundException

import scala.util.{Failure, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.CheckpointFiles

/** A late file that counts for nothing, and its length in bytes. */
final case class LateOrphan(path: Path, bytes: Long)

/** Late files that no index names and none will: what attempts left that failed or came second, and
  * what a compaction has replaced.
  */
final class LateOrphans(checkpoint: Path, conf: Configuration) {
  private val root = checkpoint.getFileSystem(conf).makeQualified(checkpoint)
  private val index = new LateIndexReader(root, conf)
  private lazy val folders = new LateFolders(root, conf)

  /** Orphans of committed batches; a batch that may still be running has none yet.
    *
    * What the index does not name counts for nothing only if the index is whole: otherwise this says
    * what is missing.
    */
  def find(): Seq[LateOrphan] = {
    if (new CheckpointFiles(new Path(root, "offsets"), conf).names.isEmpty) {
      throw EventtideException("CHECKPOINT_EMPTY", "root" -> root)
    }
    index.lastCommitted.fold(Seq.empty[LateOrphan])(find(_, LateOrphans.Attempts))
  }

  // A retention may have forgotten batches since their entries were read, and removed their files.
  @scala.annotation.tailrec
  private def find(until: Long, left: Int): Seq[LateOrphan] = {
    val forgotten = index.forgotten
    Try(look(until)) match {
      case Failure(_) if left > 1 && index.forgotten != forgotten => find(until, left - 1)
      case answer => answer.get
    }
  }

  private def look(until: Long): Seq[LateOrphan] = {
    index.refuseUnbalanced()
    val compacted = index.compacted
    val there = folders.paths.flatMap(filesIn).filter(isOver(until, compacted))
    val entries = index.entries(-1, until)
    folders.refuseDamaged(entries)
    val named = entries.flatMap(_.windows).flatMap(_.files).map(_.name).toSet
    there.filterNot(orphan => named(orphan.path.getName))
  }

  /** Deletes them; those there were.
    *
    * @param confirmed
    *   the folders outside the checkpoint that somebody has named: of the others only the checkpoint
    *   itself says that they are the query's
    */
  def clean(confirmed: Seq[String]): Seq[LateOrphan] = {
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

  // A compaction that is not over yet is about to name its files.
  private def isOver(committed: Long, compacted: Long)(file: LateOrphan): Boolean = {
    val name = file.path.getName
    val until = if (LateFileName.isCompacted(name)) compacted else committed
    LateFileName.batches(name).exists(_.last <= until)
  }
}

private[spark] object LateOrphans {
  private val Attempts = 5
}
