package io.eventtide.spark.late

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Late files that no index names and none will: what attempts left that failed or came second. */
final class LateOrphans(checkpoint: Path, conf: Configuration) {
  private val root = checkpoint.getFileSystem(conf).makeQualified(checkpoint)

  /** Orphans of committed batches; a batch that may still be running has none yet. */
  def find(): Seq[Path] = {
    val index = new LateIndexReader(root, conf)
    index.lastCommitted.fold(Seq.empty[Path]) { until =>
      val there = folders.flatMap(filesIn).filter(ofBatches(until))
      val named = index.entries(-1, until).flatMap(_.windows).flatMap(_.files).map(_.name).toSet
      there.filterNot(path => named(path.getName))
    }
  }

  /** Deletes them; how many there were. */
  def clean(): Int = {
    val orphans = find()
    orphans.foreach(path => path.getFileSystem(conf).delete(path, false))
    orphans.length
  }

  private def folders: Seq[Path] =
    new LateWindows(root, conf).read().values.map(_.folder(root)).toSeq.distinct

  private def filesIn(folder: Path): Seq[Path] =
    try folder.getFileSystem(conf).listStatus(folder).toSeq.map(_.getPath)
    catch { case _: FileNotFoundException => Nil } // no row was late yet

  private def ofBatches(until: Long)(path: Path): Boolean =
    LateFiles.batchOf(path.getName).exists(_ <= until)
}
