package io.eventtide.spark.late

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.query.CheckpointFiles

/** A late file that counts for nothing, and its length in bytes. */
final case class LateOrphan(path: Path, bytes: Long)

/** Late files that no index names and none will: what attempts left that failed or came second. */
final class LateOrphans(checkpoint: Path, conf: Configuration) {
  private val root = checkpoint.getFileSystem(conf).makeQualified(checkpoint)

  /** Orphans of committed batches; a batch that may still be running has none yet. */
  def find(): Seq[LateOrphan] = {
    if (new CheckpointFiles(new Path(root, "offsets"), conf).names.isEmpty) {
      throw EventtideException("CHECKPOINT_EMPTY", "root" -> root)
    }
    val index = new LateIndexReader(root, conf)
    index.lastCommitted.fold(Seq.empty[LateOrphan]) { until =>
      val there = folders.flatMap(filesIn).filter(ofBatches(until))
      val named = index.entries(-1, until).flatMap(_.windows).flatMap(_.files).map(_.name).toSet
      there.filterNot(orphan => named(orphan.path.getName))
    }
  }

  /** Deletes them; those there were. */
  def clean(): Seq[LateOrphan] = {
    val orphans = find()
    orphans.foreach { case LateOrphan(path, _) => path.getFileSystem(conf).delete(path, false) }
    orphans
  }

  private def folders: Seq[Path] =
    new LateWindows(root, conf).read().values.map(_.folder(root)).toSeq.distinct

  private def filesIn(folder: Path): Seq[LateOrphan] =
    try {
      val found = folder.getFileSystem(conf).listStatus(folder).toSeq
      found.map(status => LateOrphan(status.getPath, status.getLen))
    } catch { case _: FileNotFoundException => Nil } // no row was late yet

  private def ofBatches(until: Long)(file: LateOrphan): Boolean =
    LateFiles.batchOf(file.path.getName).exists(_ <= until)
}
